/** How long a call to Google may take before it is given up. */
export const callSeconds = 60;
