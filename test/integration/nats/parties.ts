/** Two connections, like those of two processes, and a small contract between them. */
import { generateActorKeys } from '#libs/infrastructure/actor';
import { anyActor, defineService, event, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { type Bus, type BusSettings, connectBus, type Handlers, newContext } from '#libs/infrastructure/nats';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import { createTestActors } from '#libs/product/testing';
import { randomBytes } from 'node:crypto';

const callers = { desk: [...anyActor, ...withoutActor] };
const actors = createTestActors(generateActorKeys());

export const library = defineService({
  service: 'library',
  rpcs: {
    getBook: rpc({
      subject: 'library.books.get',
      callers,
      summary: 'One book.',
      request: Type.Object({ id: Type.Integer({ minimum: 1 }), note: Type.Optional(Type.Unknown()) }),
      reply: Type.Object({ id: Type.Integer(), title: Type.String(), pages: Type.Optional(Type.Integer()) }),
      errors: { book_lent: { code: 'conflict', when: 'Somebody has it.' } },
      timeoutMs: 5_000,
    }),
    listBooks: rpc({
      subject: 'library.books.list',
      callers,
      summary: 'All books.',
      request: Type.Object({ count: Type.Integer() }),
      reply: Type.Array(Type.Unknown()),
      timeoutMs: 5_000,
    }),
    printBook: rpc({
      subject: 'library.books.print',
      callers,
      summary: 'One book as plain text.',
      request: Type.Object({ id: Type.Integer() }),
      reply: Type.String(),
    }),
  },
  jobs: {},
  events: {
    bookChanged: event({
      subject: 'events.library.book.changed',
      summary: 'A book changed.',
      payload: Type.Object({ id: Type.Integer() }),
    }),
  },
});

export type LibraryHandlers = Handlers<typeof library>;

/** Returns handlers; a handler that the test does not define fails. */
export function handlers(given: Partial<LibraryHandlers>): LibraryHandlers {
  const unused = (): never => {
    throw new Error('not used in this test');
  };
  return { getBook: unused, listBooks: unused, printBook: unused, ...given };
}

/** The broker of the test run with a separate subject prefix. These tests need no other server. */
export interface Broker {
  readonly url: string;
  readonly prefix: string;
  readonly logger: Logger;
}

export function openBroker(): Broker {
  const url = process.env['TEST_NATS_URL'];
  if (url === undefined) throw new Error('TEST_NATS_URL is not set: jest starts the servers of integration tests');
  const level = process.env['LOG_LEVEL'] ?? 'fatal';
  return { url, prefix: `t${randomBytes(5).toString('hex')}`, logger: createLogger({ service: 'test', level }) };
}

export function connect(broker: Broker, name: string, more: Partial<BusSettings> = {}): Promise<Bus> {
  return connectBus({ ...broker, name, actors, ...more });
}

export const context = (): ReturnType<typeof newContext> => newContext();
