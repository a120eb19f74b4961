/** Digits by which phone numbers are compared (D83, D87). */

const maxLength = 50;

/** Without `(0)` and the zeros of an international prefix; '' without a digit. `directory.phone_digits` is the same in PostgreSQL. */
export function phoneDigits(phone: string): string {
  return phone
    .replaceAll('(0)', '')
    .replaceAll(/[^0-9]/g, '')
    .replace(/^00/, '')
    .slice(0, maxLength);
}
