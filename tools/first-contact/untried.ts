/** A check couldn't be tried here. */
export class Untried extends Error {}
