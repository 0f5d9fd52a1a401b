export const tryPage = '';
export const tryPagePolicy = '';
