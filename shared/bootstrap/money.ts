/** Amounts of money without floating point: whole micro-units of a currency, and the text that people write. */
import * as z from 'zod';

const form = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

/** A positive amount such as `12.50`. */
export const AmountText = z
  .string()
  .regex(form, 'must be an amount such as 12.50, with at most six decimals')
  .refine((text) => /[1-9]/.test(text), 'must be above 0');

/** In whole micro-units. The text must be an amount. */
export function microsOf(text: string): number {
  const [, whole = '', decimals = ''] = form.exec(text) ?? [];
  return Number(`${whole}${decimals.padEnd(6, '0')}`);
}

/** `12.50`, or with up to six decimals where two would not tell all. */
export function amountText(micros: number): string {
  const digits = String(Math.abs(micros)).padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${micros < 0 ? '-' : ''}${digits.slice(0, -6)}.${decimals}`;
}
