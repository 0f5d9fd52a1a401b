/** What programs on a machine say when its disk is full. */
export const saysNoRoom = (text: string): boolean => /no space left on device|disk quota exceeded/i.test(text);
