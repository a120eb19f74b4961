/**
 * In every test a service's replies are validated against its contract (CONTRIBUTING.md), however they were produced.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppError } from '#libs/infrastructure/errors';
import {
  type Bus,
  byteStream,
  jsonStream,
  rawBytes,
  rawJson,
  withDigest,
  withOutcome,
} from '#libs/infrastructure/nats';
import { createTestEnvironment, startService, type TestEnvironment } from '#libs/product/testing';
import { agents } from '#services/agents';
import { connect, context, handlers, library, type LibraryHandlers, openBroker } from './parties.ts';

const { getBook, listBooks } = library.rpcs;
const book = { id: 1, title: 'Ulysses' };

async function* pieces(...texts: string[]): AsyncGenerator<string> {
  await Promise.resolve();
  yield* texts;
}

describe('replies that violate their contract', () => {
  const broker = openBroker();
  let caller: Bus;
  beforeAll(async () => void (caller = await connect(broker, 'caller')));
  afterAll(() => caller.close());

  /** Returns the reply as the caller receives it, or the error code. */
  async function ask(given: Partial<LibraryHandlers>, checkReplies = true): Promise<unknown> {
    const responder = await connect(broker, 'responder', { checkReplies });
    try {
      await responder.serve(library, handlers(given));
      if (given.getBook !== undefined) return await caller.call(getBook, { id: 1 }, context());
      return await caller.call(listBooks, { count: 1 }, context());
    } catch (error) {
      return error instanceof AppError ? error.code : error;
    } finally {
      await responder.close();
    }
  }

  it.each<[string, Awaited<ReturnType<LibraryHandlers['getBook']>>]>([
    ['of values', { id: 1 } as typeof book],
    ['of JSON that SQL made', rawJson('{"id":1,"title":null}')],
    ['of JSON with a field that nobody declared', rawJson('{"id":1,"title":"Ulysses","owner":"Ada"}')],
    ['of text that is no JSON', rawJson('{"id":1,')],
    ['of JSON with an outcome', withOutcome(rawJson('{"id":"1","title":"Ulysses"}'), 'created')],
    ['of JSON with a digest', withDigest(rawJson('[]'), 'abc')],
    ['of plain text where JSON is promised', rawBytes('Ulysses')],
    ['that is streamed', jsonStream(pieces('{"id":1,', '"title":1}'))],
    ['that is streamed and never ends', jsonStream(pieces('{"id":1,'))],
    ['that is streamed as plain text', byteStream(pieces('Ulysses'))],
  ])('returns an internal error instead of an invalid reply: %s', async (_what, reply) => {
    expect(await ask({ getBook: () => Promise.resolve(reply) })).toBe('internal');
  });

  it('aborts a reply stream that becomes invalid after its start', async () => {
    const source = (async function* (): AsyncGenerator<string> {
      await Promise.resolve();
      yield '[0';
      for (let index = 0; index < 1_000; index++) yield `,"${'x'.repeat(1_000)}"`;
      yield ',';
    })();
    expect(await ask({ listBooks: () => Promise.resolve(jsonStream(source)) })).toBe('internal');
  });

  it.each<[string, Awaited<ReturnType<LibraryHandlers['getBook']>>]>([
    ['values', book],
    ['JSON that SQL made', rawJson('{"id":1,"title":"Ulysses"}')],
    ['a stream', jsonStream(pieces('{"id":1,', '"title":"Ulysses"}'))],
  ])('accepts a valid reply of %s', async (_what, reply) => {
    expect(await ask({ getBook: () => Promise.resolve(reply) })).toEqual(book);
  });

  it('does not check replies by default, as in production', async () => {
    expect(await ask({ getBook: () => Promise.resolve(rawJson('{"id":1}')) }, false)).toEqual({ id: 1 });
  });
});

describe('a service started by a test', () => {
  let env: TestEnvironment;
  let bus: Bus;
  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    await startService('agents', env);
    bus = await connect({ url: env.settings['NATS_URL'] ?? '', prefix: env.id, logger: env.logger }, 'admin');
  });
  afterAll(async () => {
    await bus.close();
    await env.stop();
  });

  it('rejects JSON built by SQL that violates the contract of the service', async () => {
    const ask = (slug: string) => bus.call(agents.rpcs.getAgent, { slug }, context());
    await env.sql('alter table agents.agents drop constraint agents__infos__check');
    await env.sql(
      "insert into agents.agents (slug, name, prompt, infos) values ('good', 'Good', '', '{}'), ('bad', 'Bad', '', '[]')",
    );
    await expect(ask('good')).resolves.toMatchObject({ slug: 'good', infos: {} });
    await expect(ask('bad')).rejects.toMatchObject({ code: 'internal' });
  });
});
