/** Recognizes what programs on a machine print when its disk is full. */
export const saysNoRoom = (text: string): boolean => /no space left on device|disk quota exceeded/i.test(text);
