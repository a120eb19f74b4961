/** Addresses that people may follow (D72): of few schemes, since a browser runs some of the others, such as `javascript:`. */
import { hasControlCharacters } from '#libs/text';

const webSchemes: ReadonlySet<string> = new Set(['http', 'https']);
/** What is said of a value that is no link, after the name of its field. */
const allowed = 'must be a link with the scheme http, https, mailto or tel';

/** Why a value is no link; undefined = it is one. */
export function findLinkProblem(value: string): string | undefined {
  if (hasControlCharacters(value)) return 'must have no control characters';
  const scheme = findScheme(value);
  if (scheme === undefined) return allowed;
  if (webSchemes.has(scheme)) return isWebAddress(value) ? undefined : 'must be a link with a host, such as https://example.org';
  return /^(mailto|tel):\S/i.test(value) && URL.canParse(value) ? undefined : allowed;
}

/** Why a contact value, or another text that may be a link, cannot be stored; undefined = it can. What has no scheme is text of any number of lines. */
export function findContactProblem(value: string): string | undefined {
  if (findScheme(value) !== undefined) return findLinkProblem(value);
  return hasControlCharacters(value.replace(/[\t\r\n]/g, '')) ? 'must have no control characters' : undefined;
}

/** An absolute http(s) address with a host. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s/]/i.test(text) && !hasControlCharacters(text) && URL.canParse(text);
}

/** Longest link or contact value, in characters. */
export const maxAddressLength = 2_000;
export const tooLongAddress = `is longer than ${maxAddressLength} characters`;

/** Why a text is no http or https address; the empty one is none at all. */
export function webAddressProblem(value: string): string | undefined {
  if (value.length > maxAddressLength) return tooLongAddress;
  return value === '' || isWebAddress(value) ? undefined : 'must be an http or https address';
}

/**
 * The scheme that any reader may see in a text, in lower case. Browsers skip control characters and spaces before it and line breaks within it;
 * others drop what is invisible, or take compatible forms of letters for the letters.
 */
function findScheme(text: string): string | undefined {
  const seen = text.normalize('NFKC').replace(/[\p{Cc}\p{Cf}\p{Z}]/gu, '');
  return /^([a-z][a-z0-9+.-]*):/i.exec(seen)?.[1]?.toLowerCase();
}
