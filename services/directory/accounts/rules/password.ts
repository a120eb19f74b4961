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

  return {
    isRefused,
    hash: (password) =>
      withTurn(async () => {
        if (isRefused(password)) throw appError('bad_request', 'public_password', 'A password that anybody knows cannot be set here.');
        const salt = randomBytes(saltLength);
        const tag = await derive(password, salt, cost, tagLength);
        return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
      }),
    verify: (password, stored) =>
      withTurn(async () => {
        const parts = stored === null || isRefused(password) ? null : phc.exec(stored);
        if (parts === null) {
          await derive(password, dummySalt, cost, tagLength);
          return false;
        }
        const [, memory, passes, parallelism, salt = '', tag = ''] = parts;
        const expected = Buffer.from(tag, 'base64');
        const known = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
        return timingSafeEqual(await derive(password, Buffer.from(salt, 'base64'), known, expected.length), expected);
      }),
  };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
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
