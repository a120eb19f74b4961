/**
 * Passwords as argon2id hashes (D40), their strength (rules/access#passwords), and session tokens (rules/access#login).
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isPublicSecret } from '#libs/infrastructure/config';
import { appError, unavailable } from '#libs/infrastructure/errors';
import { createSecret, randomId, sha256 } from '../keys/index.ts';

interface Argon2Cost {
  /** Memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const cost: Argon2Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;
const saltLength = 16;
const phc = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export interface ConcurrencyLimit {
  /** Maximum concurrent hashes. Each needs 19 MiB and a thread of Node's pool. */
  readonly maxRunning: number;
  /** Maximum waiting callers. Further callers are rejected as unavailable. */
  readonly maxWaiting: number;
}

const defaultConcurrency: ConcurrencyLimit = {
  maxRunning: Math.max(1, Math.min(4, availableParallelism())),
  maxWaiting: 500,
};

export interface Passwords {
  /** Returns true for a password that must neither be set nor accepted. */
  isRefused(password: string): boolean;
  /**
   * Hashes a password. @returns a hash in PHC format with a new salt. @throws AppError bad_request for a rejected
   * password, unavailable when the queue is full.
   */
  hash(password: string): Promise<string>;
  /**
   * Verifies a password. For a null hash it returns false after the same amount of work. @throws AppError unavailable
   * when the queue is full.
   */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** Verifies a password like `verify`. Also returns a stronger hash if the stored hash is weaker than today's cost. */
  check(password: string, stored: string | null): Promise<PasswordCheck>;
}

export interface PasswordCheck {
  readonly matches: boolean;
  /** Hash of the same password at today's cost; undefined if the password is wrong or the hash is strong enough. */
  readonly upgraded: string | undefined;
}

/** Derives a tag of `length` bytes from a password and a salt. */
export type Derive = (password: string, nonce: Buffer, cost: Argon2Cost, length: number) => Promise<Buffer>;

interface PasswordOptions {
  limit?: ConcurrencyLimit;
  derive?: Derive;
  /** See `Passwords.isRefused`. By default every password is allowed. */
  isRefused?: (password: string) => boolean;
}

/**
 * Creates the password functions. They limit their concurrency, so that a burst of logins does not occupy the thread
 * pool.
 */
export function createPasswords({
  limit = defaultConcurrency,
  derive = deriveArgon2id,
  isRefused = () => false,
}: PasswordOptions = {}): Passwords {
  const { maxRunning, maxWaiting } = limit;
  let running = 0;
  const waiting: (() => void)[] = [];
  async function runLimited<T>(work: () => Promise<T>): Promise<T> {
    if (running >= maxRunning) {
      if (waiting.length >= maxWaiting) throw unavailable('Too many logins at the same time');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next(); // The slot passes to the next waiting caller.
    }
  }
  const dummySalt = randomBytes(saltLength);
  const hashWithSalt = async (password: string): Promise<string> => {
    const salt = randomBytes(saltLength);
    const tag = await derive(password, salt, cost, tagLength);
    return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
  };
  const check: Passwords['check'] = (password, stored) =>
    runLimited(async () => {
      const known = stored === null || isRefused(password) ? undefined : readHash(stored);
      if (known === undefined) {
        await derive(password, dummySalt, cost, tagLength);
        return { matches: false, upgraded: undefined };
      }
      // Verifies the weak hash and computes the new one in parallel, even if the password is wrong: the duration must
      // not reveal whether an account exists (D40).
      const upgrading = isWeaker(known) ? hashWithSalt(password) : undefined;
      const [tag, upgraded] = await Promise.all([
        derive(password, known.salt, known.cost, known.tag.length),
        upgrading,
      ]);
      const matches = timingSafeEqual(tag, known.tag);
      return { matches, upgraded: matches ? upgraded : undefined };
    });

  return {
    isRefused,
    check,
    verify: async (password, stored) => (await check(password, stored)).matches,
    hash: (password) =>
      runLimited(async () => {
        if (isRefused(password))
          throw appError('bad_request', 'public_password', 'This password is publicly known. Choose another one.');
        return hashWithSalt(password);
      }),
  };
}

interface StoredHash {
  readonly cost: Argon2Cost;
  readonly salt: Buffer;
  readonly tag: Buffer;
}

function readHash(stored: string): StoredHash | undefined {
  const [, memory, passes, parallelism, salt, tag] = phc.exec(stored) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

/**
 * Whether a stored hash used less memory or less total work than today's hashes. More passes do not compensate for less
 * memory.
 */
function isWeaker({ cost: { memory, passes }, salt, tag }: StoredHash): boolean {
  const costsLess = memory < cost.memory || memory * passes < cost.memory * cost.passes;
  return costsLess || salt.length < saltLength || tag.length < tagLength;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/(?<!=)=+$/, '');
}

export function deriveArgon2id(
  password: string,
  nonce: Buffer,
  { memory, passes, parallelism }: Argon2Cost,
  length: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parameters = {
      message: Buffer.from(password, 'utf8'),
      nonce,
      memory,
      passes,
      parallelism,
      tagLength: length,
    };
    argon2('argon2id', parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
  });
}

const minLength = 12;
const maxLength = 128;
/** Minimum score, from 0 to 4. Score 3 needs 10^8 guesses or more: centuries at our login rate. */
const minScore = 3;

type PasswordScorer = (password: string, about: string[]) => number;
let scorer: Promise<PasswordScorer> | undefined;

/**
 * Returns the problem of a new password as a phrase that follows "the password", or undefined. @param email of the
 * account, which is easy to guess
 */
export async function findPasswordProblem(password: string, email: string): Promise<string | undefined> {
  const { length } = Array.from(password);
  if (length < minLength) return `must have at least ${minLength} characters, and has ${length}`;
  if (length > maxLength) return `must have at most ${maxLength} characters, and has ${length}`;
  // Demo passwords are allowed here for local use; exposed installations reject them through `isRefused`.
  if (isPublicSecret(password)) return undefined;
  scorer ??= loadScorer();
  const score = (await scorer)(password, [email, ...email.split(/[@.+_-]/)]);
  return score >= minScore
    ? undefined
    : 'is too easy to guess: it is common, follows a pattern or repeats the email. Use several words or a password manager';
}

/** Loads the scorer on first use. Its dictionary needs 14 MB, and most processes never set a password. */
async function loadScorer(): Promise<PasswordScorer> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password, about) => zxcvbn.check(password, about).score;
}

/**
 * Checks and hashes a new password (rules/access#passwords). @throws AppError `weak_password`, `public_password`,
 * unavailable
 */
export async function hashNewPassword(passwords: Passwords, password: string, email: string): Promise<string> {
  const problem = await findPasswordProblem(password, email.trim());
  if (problem !== undefined) throw appError('bad_request', 'weak_password', `The password ${problem}.`);
  return passwords.hash(password);
}

/** Lifetime of a token in seconds. */
export const tokenLifetimeSeconds = 86_400;

const shape = /^svc_agentic_([a-z0-9]{32})_([A-Za-z0-9_-]{43})$/;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

export interface TokenParts {
  /** 32 lowercase letters and digits that identify the session. The key is not secret. */
  readonly sessionKey: string;
  /** SHA-256 of the secret. The secret is not stored. */
  readonly secretSha256: Buffer;
}

/** Whether the text has the format of a session key. */
export function isSessionKey(text: string): boolean {
  return /^[a-z0-9]{32}$/.test(text);
}

/** Creates a token, which only the login reply contains. */
export function createToken(): TokenParts & { readonly token: string } {
  const sessionKey = randomId(32, alphabet);
  const secret = createSecret();
  return { token: `svc_agentic_${sessionKey}_${secret}`, sessionKey, secretSha256: sha256(secret) };
}

/** Parses a token. Returns undefined for other formats. */
export function parseToken(token: string): TokenParts | undefined {
  const [, sessionKey, secret] = shape.exec(token) ?? [];
  return sessionKey === undefined || secret === undefined ? undefined : { sessionKey, secretSha256: sha256(secret) };
}
