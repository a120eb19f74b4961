/**
 * Cookies for signing in and out at the identity provider (S3; D105). Each pending sign-in has its own cookie with
 * start time, sealed state and return URL, so that several tabs do not interfere.
 */
import { createHash } from 'node:crypto';
import { signInSeconds } from '#libs/infrastructure/oidc';
import { parseReturnUrl } from './return-url.ts';

export const signInPath = '/console/sign-in';
export const signOutPath = '/console/sign-out';

export interface PendingSignIn {
  readonly name: string;
  /** Seconds since 1970; 0 when the value is invalid. */
  readonly startedAt: number;
  readonly sealedState: string | undefined;
  readonly returnUrl: string;
}

/** Pending sign-ins per browser; a further one replaces the oldest. */
const maxPending = 5;
/** The divider cannot occur in sealed states or encoded URLs. */
const divider = '|';
const requireLoginSeconds = 30 * 86_400;

export class SignInCookies {
  readonly #prefix: string;
  readonly #isLocal: boolean;
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(isLocal: boolean, header = '') {
    this.#isLocal = isLocal;
    this.#prefix = isLocal ? '' : '__Secure-';
    const pairs = header.split(';').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name: name.trim(), value: value.join('=').trim() };
    });
    this.#values = new Map(
      [...Map.groupBy(pairs, ({ name }) => name)].map(([name, same]) => [name, same.map(({ value }) => value)]),
    );
  }

  /** Returns the pending sign-in for the state of a callback; returns undefined when this browser has none. */
  find(state: string | null): PendingSignIn | undefined {
    const name = this.#nameOf(state ?? '');
    const value = this.#read(name);
    return value === undefined ? undefined : readPending(name, value);
  }

  /** Returns the `Set-Cookie` headers that add a sign-in and remove the replaced ones. */
  add({
    state,
    sealedState,
    returnUrl,
    nowMs,
  }: {
    state: string;
    sealedState: string;
    returnUrl: string;
    nowMs: number;
  }): string[] {
    const value = [Math.floor(nowMs / 1_000), sealedState, encodeURIComponent(returnUrl)].join(divider);
    const older = this.#list().toSorted((left, right) => right.startedAt - left.startedAt);
    const replaced = older.slice(maxPending - 1).map((pending) => this.remove(pending));
    return [`${this.#nameOf(state)}=${value}${this.#attributes(signInPath)}; Max-Age=${signInSeconds}`, ...replaced];
  }

  remove({ name }: Pick<PendingSignIn, 'name'>): string {
    return `${name}=${this.#attributes(signInPath)}; Max-Age=0`;
  }

  /**
   * Identifies the session to the provider at sign-out. The cookie is SameSite=Strict, so that other sites cannot sign
   * users out.
   */
  get signOutHint(): string | undefined {
    return this.#read(this.#signOutName);
  }

  setSignOutHint(hint: string | undefined): string {
    const attributes = this.#attributes(signOutPath).replace('SameSite=Lax', 'SameSite=Strict');
    return `${this.#signOutName}=${hint ?? ''}${attributes}${hint === undefined ? '; Max-Age=0' : ''}`;
  }

  /** Whether the provider must request credentials, because the provider's session could not be ended. */
  get requiresLogin(): boolean {
    return this.#values.has(this.#requiresLoginName);
  }

  setRequiresLogin(isRequired: boolean): string {
    return `${this.#requiresLoginName}=${isRequired ? 1 : ''}${this.#attributes(signInPath)}; Max-Age=${isRequired ? requireLoginSeconds : 0}`;
  }

  get #signOutName(): string {
    return `${this.#prefix}coherence_sign_out`;
  }

  get #requiresLoginName(): string {
    return `${this.#prefix}coherence_ask_again`;
  }

  /** Returns the cookie name, which contains only a hash of the state. The state is sealed in the value. */
  #nameOf(state: string): string {
    return `${this.#prefix}coherence_sign_in_${createHash('sha256').update(state).digest('hex').slice(0, 16)}`;
  }

  #list(): PendingSignIn[] {
    const own = [...this.#values].filter(([name]) => name.startsWith(`${this.#prefix}coherence_sign_in_`));
    return own.map(([name, [value = '']]) => readPending(name, value));
  }

  /**
   * Returns the value of a cookie. Returns undefined without a cookie, and for several cookies, as a sibling host of
   * the domain could have added one.
   */
  #read(name: string): string | undefined {
    const values = this.#values.get(name);
    return values?.length === 1 ? values[0] : undefined;
  }

  /** SameSite=Lax sends the cookie when the provider redirects the browser back from another site. */
  #attributes(path: string): string {
    return `; Path=${path}; HttpOnly; SameSite=Lax${this.#isLocal ? '' : '; Secure'}`;
  }
}

function readPending(name: string, value: string): PendingSignIn {
  const [startedAt = '', sealedState, returnUrl = ''] = value.split(divider);
  return {
    name,
    startedAt: /^\d{1,12}$/.test(startedAt) ? Number(startedAt) : 0,
    sealedState,
    returnUrl: parseReturnUrl(decode(returnUrl)),
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
