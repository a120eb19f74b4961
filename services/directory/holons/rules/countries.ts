/** Countries as ISO 3166-1 alpha-2 codes (rules/holons#update-a-holon; D46a). */
import countries from 'i18n-iso-countries/index.js'; // without the names in eighty languages

const codes: ReadonlySet<string> = new Set(Object.keys(countries.getAlpha2Codes()));

/** The code as it is stored, in upper case; undefined when there is no such country. Codes of three letters are none. */
export function findCountryCode(given: string): string | undefined {
  const code = given.toUpperCase();
  return /^[A-Za-z]{2}$/.test(given) && codes.has(code) ? code : undefined;
}
