/** Validates the page of the console to which the browser returns after signing in at the identity provider (P6). */

const root = '/console';
/** Paths that are not pages: the API, files, and sign-in, which would cause a redirect loop. */
const notPages = /^\/console\/(?:api|assets|sign-in|sign-out|session)(?:\/|$)/;
const maxLength = 1_500;
const base = 'http://console.invalid';

/**
 * Returns a console page with its filters, parsed as browsers do. Returns the overview for any other text, to prevent
 * redirects to other sites.
 */
export function parseReturnUrl(text: string | null | undefined): string {
  const url = URL.parse(text ?? '', `${base}${root}`);
  if (url === null || url.origin !== base || (url.pathname !== root && !url.pathname.startsWith(`${root}/`)))
    return root;
  const returnUrl = `${url.pathname}${url.search}`;
  return notPages.test(url.pathname) || encodeURIComponent(returnUrl).length > maxLength ? root : returnUrl;
}

/** Adds the reason for a failed sign-in to the URL. */
export function withReason(returnUrl: string, reason: string): string {
  const url = new URL(returnUrl, base);
  url.searchParams.set('signIn', reason);
  return `${url.pathname}${url.search}`;
}
