/** Where the pictures of the docs lie, and what they may weigh together. */

/** From the top of the project. */
export const picturesFolder = 'docs/images';
export const mostBytes = 1_000_000;
