/** How long a call to Google may take before plinth gives it up. */
export const callSeconds = 60;
