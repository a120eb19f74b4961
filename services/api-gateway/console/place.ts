/** The page of the console that was asked for, kept while somebody signs in elsewhere (P6). */

const root = '/console';
/** Below it nothing is a page: an answer, a file, or the way to the provider, which would never end. */
const noPages = /^\/console\/(?:api|assets|sign-in|sign-out|session)(?:\/|$)/;
const maxLength = 1_500;
const base = 'http://console.invalid';

/** A page with its filters, as a browser reads the text; the overview for whatever is none, so that no link leads anywhere else. */
export function readPlace(text: string | null | undefined): string {
  const url = URL.parse(text ?? '', `${base}${root}`);
  if (url === null || url.origin !== base || (url.pathname !== root && !url.pathname.startsWith(`${root}/`))) return root;
  const place = `${url.pathname}${url.search}`;
  return noPages.test(url.pathname) || encodeURIComponent(place).length > maxLength ? root : place;
}

/** The same page, which says why nobody was signed in. */
export function withReason(place: string, reason: string): string {
  const url = new URL(place, base);
  url.searchParams.set('signIn', reason);
  return `${url.pathname}${url.search}`;
}
