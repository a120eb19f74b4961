/** Passwords as argon2id hashes (D40), their strength (rules/access#passwords), and session tokens (rules/access#login). */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { isPublicSecret } from '#libs/config';
import { appError, unavailable } from '#libs/errors';
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

export interface Turns {
  /** Hashes at the same time; each holds 19 MiB and one of Node's threads. */
  readonly maxRunning: number;
  /** Callers that may wait for their turn; more are told to come again. */
  readonly maxWaiting: number;
}

const usualTurns: Turns = { maxRunning: Math.max(1, Math.min(4, availableParallelism())), maxWaiting: 500 };

export interface Passwords {
  /** True for one that cannot be set, and opens nothing whatever is stored. */
  isRefused(password: string): boolean;
  /** @returns a hash in PHC form with a fresh salt. @throws AppError bad_request for a refused one, unavailable when too many wait. */
  hash(password: string): Promise<string>;
  /** False when `stored` is null, after the same work. @throws AppError unavailable when too many wait. */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** As `verify`, with what to store instead when it matches and the stored hash costs a guesser less than one of today. */
  check(password: string, stored: string | null): Promise<PasswordCheck>;
}

export interface PasswordCheck {
  readonly matches: boolean;
  /** Hash of the same password at today's cost; undefined when it does not match, or is stored so already. */
  readonly raised: string | undefined;
}

/** Derives a tag of `length` bytes from a password and a salt. */
export type Derive = (password: string, nonce: Buffer, cost: Argon2Cost, length: number) => Promise<Buffer>;

interface PasswordOptions {
  turns?: Turns;
  derive?: Derive;
  /** See `Passwords`; default none. */
  isRefused?: (password: string) => boolean;
}

/** Has turns of its own, so that a burst of logins cannot fill the process's thread pool. */
export function createPasswords({ turns = usualTurns, derive = deriveArgon2id, isRefused = () => false }: PasswordOptions = {}): Passwords {
  const { maxRunning, maxWaiting } = turns;
  let running = 0;
  const waiting: (() => void)[] = [];
  async function withTurn<T>(work: () => Promise<T>): Promise<T> {
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
      else next(); // the turn is handed on
    }
  }
  const dummySalt = randomBytes(saltLength);
  const hashAnew = async (password: string): Promise<string> => {
    const salt = randomBytes(saltLength);
    const tag = await derive(password, salt, cost, tagLength);
    return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
  };
  const check: Passwords['check'] = (password, stored) =>
    withTurn(async () => {
      const known = stored === null || isRefused(password) ? undefined : readHash(stored);
      if (known === undefined) {
        await derive(password, dummySalt, cost, tagLength);
        return { matches: false, raised: undefined };
      }
      // A weaker hash is checked while the one that takes its place is made, whether the password is right or not: neither takes longer than a check
      // at today's cost, and the time tells nobody that there is something to check (D40).
      const raising = isWeaker(known) ? hashAnew(password) : undefined;
      const [tag, raised] = await Promise.all([derive(password, known.salt, known.cost, known.tag.length), raising]);
      const matches = timingSafeEqual(tag, known.tag);
      return { matches, raised: matches ? raised : undefined };
    });

  return {
    isRefused,
    check,
    verify: async (password, stored) => (await check(password, stored)).matches,
    hash: (password) =>
      withTurn(async () => {
        if (isRefused(password)) throw appError('bad_request', 'public_password', 'A password that anybody knows cannot be set here.');
        return hashAnew(password);
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

/** Less memory than today's hashes take, or less work in all; more of one of them does not make up for less memory. */
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
    const parameters = { message: Buffer.from(password, 'utf8'), nonce, memory, passes, parallelism, tagLength: length };
    argon2('argon2id', parameters, (error, tag) => (error === null ? resolve(tag) : reject(error)));
  });
}

const shortest = 12;
const longest = 128;
/** Of 0 to 4: 3 is found by 10^8 tries or more, which takes centuries at the pace of our logins and hashes. */
const leastScore = 3;

type Judge = (password: string, about: string[]) => number;
let judge: Promise<Judge> | undefined;

/**
 * What is wrong with a new password, in words that follow "the password"; undefined when it is good.
 * @param email of the account, which is easy to guess
 */
export async function findPasswordProblem(password: string, email: string): Promise<string | undefined> {
  const { length } = Array.from(password);
  if (length < shortest) return `must have ${shortest} characters or more, and has ${length}`;
  if (length > longest) return `must have ${longest} characters or fewer, and has ${length}`;
  // Demo passwords are for one's own machine; elsewhere the password library refuses them.
  if (isPublicSecret(password)) return undefined;
  judge ??= loadJudge();
  const score = (await judge)(password, [email, ...email.split(/[@.+_-]/)]);
  return score >= leastScore
    ? undefined
    : 'is too easy to guess: it is a common one, follows a pattern or repeats the email. Take several words, or what a password manager makes';
}

/** Common passwords take 14 MB, and most processes never set one. */
async function loadJudge(): Promise<Judge> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const zxcvbn = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
  return (password, about) => zxcvbn.check(password, about).score;
}

/** The hash of a password that is set (rules/access#passwords). @throws AppError `weak_password`, `public_password`, unavailable */
export async function hashNewPassword(passwords: Passwords, password: string, email: string): Promise<string> {
  const problem = await findPasswordProblem(password, email.trim());
  if (problem !== undefined) throw appError('bad_request', 'weak_password', `The password ${problem}.`);
  return passwords.hash(password);
}

/** Seconds that a token lives. */
export const tokenLifetimeSeconds = 86_400;

const shape = /^svc_agentic_([a-z0-9]{32})_([A-Za-z0-9_-]{43})$/;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

export interface TokenParts {
  /** 32 lowercase letters and digits; names the session, is no secret. */
  readonly sessionKey: string;
  /** SHA-256 of the secret; all that is stored of it. */
  readonly secretSha256: Buffer;
}

/** True for text of the shape that the key of a session has. */
export function isSessionKey(text: string): boolean {
  return /^[a-z0-9]{32}$/.test(text);
}

/** Makes a token; it exists nowhere but in the reply of the login. */
export function createToken(): TokenParts & { readonly token: string } {
  const sessionKey = randomId(32, alphabet);
  const secret = createSecret();
  return { token: `svc_agentic_${sessionKey}_${secret}`, sessionKey, secretSha256: sha256(secret) };
}

/** The parts of a token; undefined when the text has another shape. */
export function parseToken(token: string): TokenParts | undefined {
  const [, sessionKey, secret] = shape.exec(token) ?? [];
  return sessionKey === undefined || secret === undefined ? undefined : { sessionKey, secretSha256: sha256(secret) };
}
