/** Labels of resources, which have one form in all APIs. */
import type { GoogleError, Json } from './api.js';
import { labelsOf } from './json-fields.js';

const keyForm = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const valueForm = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;

/** Throws the API's refusal of the first label that no resource can have. */
export function checkLabelForms(labels: Json | undefined, refusal: (key: string, value: string) => GoogleError): void {
  for (const [key, value] of Object.entries(labelsOf(labels))) {
    if (!keyForm.test(key) || !valueForm.test(value)) throw refusal(key, value);
  }
}
