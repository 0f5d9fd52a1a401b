/** How long a call to Google may take before it is given up. Read by rest.ts, and by whoever must outlast a call of another's. */
export const callSeconds = 60;
