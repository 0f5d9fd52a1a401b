/** Adds seconds to a time, and returns it as documents hold times: in ISO 8601. */
export const addSeconds = (time: Date, seconds: number): string =>
  new Date(time.getTime() + seconds * 1000).toISOString();
