/** The cookie that holds a login of the console: what the browser gets, and what of a request is believed (S3). */

export interface SessionCookie {
  /** The token of a request's `Cookie` header; undefined when it has none, or more than one and nobody can say which is ours. */
  read(header: string | undefined): string | undefined;
  /** `Set-Cookie` that begins a session; it ends with the browser, and its token when the directory says so. */
  write(token: string): string;
  /** `Set-Cookie` that removes it. */
  readonly removal: string;
}

const plainName = 'coherence_console';

const local = /^(?:localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** True for names of this machine, where browsers and people do without encryption. */
export function isLocalHost(hostname: string): boolean {
  return local.test(hostname);
}

/** True when a request may come from who has signed in, like one with an `Authorization` that nobody has looked at yet. */
export function mayHaveSession(header: string | undefined): boolean {
  return header?.includes(`${plainName}=`) === true;
}

/** With encryption the name carries the prefix for which browsers take no cookie that came without. */
export function createSessionCookie(isSecure: boolean): SessionCookie {
  const name = `${isSecure ? '__Secure-' : ''}${plainName}`;
  const attributes = `; Path=/console; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
  return {
    read: (header = '') => {
      const values = header.split(';').flatMap((pair) => {
        const [key = '', ...value] = pair.split('=');
        return key.trim() === name ? [value.join('=').trim()] : [];
      });
      // A neighbour under the same domain could add a cookie of its own account (session fixation).
      return values.length === 1 ? values[0] : undefined;
    },
    write: (token) => `${name}=${token}${attributes}`,
    removal: `${name}=${attributes}; Max-Age=0`,
  };
}
