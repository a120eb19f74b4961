/** Passwords as argon2id hashes in PHC form. Every check costs the same, whether there is something to compare with or not (D40). */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { appError, unavailable } from '#libs/errors';

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
