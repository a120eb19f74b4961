import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectClient } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { appError, type AppError } from '#libs/infrastructure/errors';
import { type Bus, rawBytes, rawJson, type RequestContext, withDigest, withOutcome } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { connect, context, handlers, library, type LibraryHandlers, openBroker } from './parties.ts';

const { getBook, listBooks, printBook } = library.rpcs;

describe('calls over NATS (architecture#rpc)', () => {
  const broker = openBroker();
  let caller: Bus;
  const responders: Bus[] = [];

  beforeAll(async () => {
    caller = await connect(broker, 'caller');
  });
  afterAll(async () => {
    await Promise.all([caller, ...responders].map((bus) => bus.close()));
  });

  /** Runs `work` while a process serves these handlers. */
  async function serving(given: Partial<LibraryHandlers>, work: (responder: Bus) => Promise<void>): Promise<void> {
    const responder = await connect(broker, 'responder', { checkReplies: true });
    responders.push(responder);
    const service = await responder.serve(library, handlers(given));
    try {
      await work(responder);
    } finally {
      await service.drain();
    }
  }
  const failure = async (promise: Promise<unknown>): Promise<AppError> => {
    try {
      await promise;
    } catch (error) {
      return error as AppError;
    }
    throw new Error('the call did not fail');
  };

  it('passes request, actor, trace and deadline to the handler and returns its reply', async () => {
    let seen: RequestContext | undefined;
    await serving(
      {
        getBook: async (request, ctx) => {
          seen = ctx;
          return { id: request.id, title: 'Ulysses' };
        },
      },
      async () => {
        const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
        const deadlineMs = Date.now() + 2_000;
        const actor = { kind: 'shared' } as const;
        const reply = await caller.call(getBook, { id: 7 }, { requestId: 'r-1', actor, traceparent, deadlineMs });
        expect(reply).toEqual({ id: 7, title: 'Ulysses' });
        expect(seen).toMatchObject({ requestId: 'r-1', actor, traceparent, deadlineMs, subject: 'library.books.get' });
      },
    );
  });

  it('retries a call while its subject has no responder, for example during a service restart', async () => {
    const call = caller.call(getBook, { id: 7 }, context());
    await serving({ getBook: async ({ id }) => ({ id, title: 'back' }) }, async () => {
      await expect(call).resolves.toEqual({ id: 7, title: 'back' });
    });
  });

  it('returns `unavailable` within the deadline of a call whose subject has no responder', async () => {
    // A call that waits for a reply would fail with `deadline_exceeded` instead.
    const error = await failure(caller.call(getBook, { id: 1 }, context()));
    expect(error.toBody()).toEqual({ code: 'unavailable', message: 'No service answers library.books.get' });
  });

  it("returns code, reason, message and details of the handler's error to the caller", async () => {
    const book = async (): Promise<never> => {
      throw appError('conflict', 'book_lent', 'Somebody has it', { until: '2026-05-01' });
    };
    await serving({ getBook: book }, async () => {
      const error = await failure(caller.call(getBook, { id: 1 }, context()));
      expect(error.toBody()).toEqual({
        code: 'conflict',
        reason: 'book_lent',
        message: 'Somebody has it',
        details: { until: '2026-05-01' },
      });
    });
  });

  it('hides the message of an unexpected error, and continues to serve calls', async () => {
    let calls = 0;
    const book: LibraryHandlers['getBook'] = (request) => {
      if (++calls === 1) throw new Error('secret of the database');
      return Promise.resolve({ id: request.id, title: 'Emma' });
    };
    await serving({ getBook: book }, async () => {
      const error = await failure(caller.call(getBook, { id: 1 }, context()));
      expect(error.toBody()).toEqual({ code: 'internal', message: 'Internal error' });
      await expect(caller.call(getBook, { id: 1 }, context())).resolves.toMatchObject({ title: 'Emma' });
    });
  });

  it('rejects a request that violates the contract before it calls the handler', async () => {
    let called = false;
    const book: LibraryHandlers['getBook'] = async () => {
      called = true;
      return { id: 1, title: '' };
    };
    await serving({ getBook: book }, async () => {
      const error = await failure(caller.callRaw(getBook, { id: 'secret' }, context()));
      expect(error.toBody()).toMatchObject({ code: 'bad_request', message: 'Invalid request: id must be integer' });
      expect((await failure(caller.callRaw(getBook, rawJson('{"id":'), context()))).message).toBe(
        'The request is not JSON',
      );
      expect(called).toBe(false);
    });
  });

  it('preserves numbers that a double cannot represent, in requests and replies', async () => {
    const text = '{"id":1,"note":{"big":12345678901234567890,"exact":1.10}}';
    let seen = '';
    const book: LibraryHandlers['getBook'] = async (request) => {
      seen = JSON.stringify(request);
      return rawJson('{"id":1,"title":"x","pages":98765432109876543210}');
    };
    await serving({ getBook: book }, async () => {
      const reply = await caller.call(getBook, rawJson(text) as never, context());
      expect(seen).toBe(text);
      expect(JSON.stringify(reply)).toContain('98765432109876543210');
    });
  });

  it('accepts `7.0` and `7e0` as integers', async () => {
    await serving({ getBook: async (request) => ({ id: request.id, title: typeof request.id }) }, async () => {
      for (const id of ['7.0', '7e0']) {
        await expect(caller.call(getBook, rawJson(`{"id":${id}}`) as never, context())).resolves.toEqual({
          id: 7,
          title: 'number',
        });
      }
      expect((await failure(caller.callRaw(getBook, rawJson('{"id":7.5e-1}'), context()))).code).toBe('bad_request');
    });
  });

  it('returns bytes, outcome and digest of a reply unchanged', async () => {
    const book: LibraryHandlers['getBook'] = async () => withOutcome(rawJson('{ "id": 1,  "title":"ä" }'), 'created');
    const print: LibraryHandlers['printBook'] = async () => withDigest(rawBytes('# Not JSON'), 'sha-x');
    await serving({ getBook: book, printBook: print }, async () => {
      const reply = await caller.callRaw(getBook, { id: 1 }, context());
      if (reply.kind !== 'bytes') throw new Error('expected one message');
      expect(Buffer.from(reply.bytes).toString('utf8')).toBe('{ "id": 1,  "title":"ä" }');
      expect(reply.outcome).toBe('created');
      const text = await caller.callRaw(printBook, { id: 1 }, context());
      expect(text).toMatchObject({ kind: 'bytes', digest: 'sha-x' });
    });
  });

  it('returns at the deadline, and aborts the signal of the handler', async () => {
    let aborted = false;
    const released = Promise.withResolvers<void>();
    const book: LibraryHandlers['getBook'] = async (request, ctx) => {
      await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
      aborted = true;
      await released.promise;
      return { id: request.id, title: 'late' };
    };
    await serving({ getBook: book }, async () => {
      const error = await failure(caller.call(getBook, { id: 1 }, { ...context(), deadlineMs: Date.now() + 2_000 }));
      expect(error.code).toBe('deadline_exceeded');
      await waitFor(() => aborted);
      released.resolve();
      expect((await failure(caller.call(getBook, { id: 1 }, { ...context(), deadlineMs: Date.now() - 1 }))).code).toBe(
        'deadline_exceeded',
      );
    });
  });

  it('passes the deadline of a call to nested calls', async () => {
    let nested: number | undefined;
    await serving({ listBooks: async (_request, ctx) => [String((nested = ctx.deadlineMs))] }, async (inner) => {
      const outer = await connect(broker, 'outer');
      responders.push(outer);
      const deadlineMs = Date.now() + 4_000;
      await inner.call(listBooks, { count: 1 }, { ...context(), deadlineMs });
      expect(nested).toBe(deadlineMs);
    });
  });

  it('ends a call when the caller’s signal aborts', async () => {
    await serving({ getBook: async (request) => (await sleep(300), { id: request.id, title: '' }) }, async () => {
      const controller = new AbortController();
      const call = failure(caller.call(getBook, { id: 1 }, { ...context(), signal: controller.signal }));
      controller.abort();
      expect((await call).message).toBe('The request was cancelled');
    });
  });

  it("rejects a request that exceeds the broker's maximum size", async () => {
    expect(caller.maxPayload).toBeGreaterThanOrEqual(8_000_000);
    const error = await failure(caller.callRaw(getBook, { id: 1, note: 'x'.repeat(caller.maxPayload) }, context()));
    expect(error.code).toBe('payload_too_large');
  });

  it('sends a request of 4 MiB of JSON', async () => {
    const note = 'ä'.repeat(2 * 1024 * 1024);
    await serving(
      { getBook: async (request) => ({ id: request.id, title: String((request.note as string).length) }) },
      async () => {
        await expect(caller.call(getBook, { id: 1, note }, context())).resolves.toEqual({
          id: 1,
          title: String(note.length),
        });
      },
    );
  });

  it('distributes requests among the replicas of a service', async () => {
    const seen = new Set<string>();
    const by = (name: string): Partial<LibraryHandlers> => ({
      getBook: async (request) => (seen.add(name), { id: request.id, title: name }),
    });
    await serving(by('a'), async () => {
      await serving(by('b'), async () => {
        const replies = await Promise.all(
          Array.from({ length: 100 }, () => caller.call(getBook, { id: 1 }, context())),
        );
        expect(replies).toHaveLength(100);
        expect([...seen].toSorted()).toEqual(['a', 'b']);
      });
    });
  });

  it('rejects an undeclared handler, and a declared operation without a handler', () => {
    const { listBooks: list } = handlers({});
    expect(() => caller.serve(library, { listBooks: list } as never)).toThrow(
      'getBook (library.books.get) has no handler',
    );
    expect(() => caller.serve(library, { ...handlers({}), burnBook: list } as never)).toThrow(
      'handler burnBook is not declared',
    );
  });

  it('answers calls in progress while draining, and accepts no new ones', async () => {
    const responder = await connect(broker, 'draining');
    responders.push(responder);
    let started = 0;
    const book: LibraryHandlers['getBook'] = async (request) => {
      started++;
      await sleep(300);
      return { id: request.id, title: 'in time' };
    };
    const service = await responder.serve(library, handlers({ getBook: book }));
    const underWay = Array.from({ length: 20 }, () => caller.call(getBook, { id: 1 }, context()));
    await waitFor(() => started === 20);
    const drained = service.drain();
    await waitFor(async () => (await failure(caller.call(getBook, { id: 1 }, context()))).code === 'unavailable');
    expect((await Promise.all(underWay)).every((reply) => reply.title === 'in time')).toBe(true);
    await drained;
  });

  it('returns `unavailable` for calls above the limit of concurrent calls', async () => {
    const responder = await connect(broker, 'small');
    responders.push(responder);
    const released = Promise.withResolvers<void>();
    const book: LibraryHandlers['getBook'] = async (request) => (await released.promise, { id: request.id, title: '' });
    const service = await responder.serve(library, handlers({ getBook: book }), { maxInFlight: 2 });
    const refusals: AppError[] = [];
    const calls = Array.from({ length: 5 }, () => caller.call(getBook, { id: 1 }, context()));
    for (const call of calls) call.catch((error: AppError) => refusals.push(error));
    await waitFor(() => refusals.length === 3);
    released.resolve();
    const results = await Promise.allSettled(calls);
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(2);
    expect(refusals.map(({ code }) => code)).toEqual(['unavailable', 'unavailable', 'unavailable']);
    await service.drain();
  });

  it('does not connect to a broker whose maximum message size is too small', async () => {
    await expect(connect(broker, 'big', { minPayloadBytes: 1e9 })).rejects.toThrow(
      /accepts messages of \d+ bytes; 1000000000 are needed/,
    );
  });

  it('names the unreachable server in the connection error, without the password', async () => {
    const error = await failure(
      connect(broker, 'nowhere', { url: 'nats://user:hush@127.0.0.1:1', connectTimeoutMs: 1 }),
    );
    expect(error.code).toBe('unavailable');
    expect(error.message).toContain('127.0.0.1:1');
    expect(error.message).not.toContain('hush');
  });

  it('delivers an event to every subscriber', async () => {
    const other = await connect(broker, 'other');
    responders.push(other);
    const heard: string[] = [];
    const ends = [caller, other].map((bus, index) =>
      bus.subscribeEvent(library.events.bookChanged, ({ id }) => void heard.push(`${index}:${id}`)),
    );
    await Promise.all([caller.ping(), other.ping()]);
    other.publish(library.events.bookChanged, { id: 5 });
    await waitFor(() => heard.length === 2);
    expect(heard.toSorted()).toEqual(['0:5', '1:5']);
    for (const end of ends) end();
  });

  it('registers the service and its counters in the NATS services protocol', async () => {
    await serving({ getBook: async (request) => ({ id: request.id, title: '' }) }, async () => {
      await caller.call(getBook, { id: 1 }, context());
      await failure(caller.callRaw(getBook, { id: 0 }, context()));
      const { host, username, password } = new URL(broker.url);
      const client = await connectClient({ servers: host, user: username, pass: password });
      const name = `${broker.prefix}_library`;
      const ping = (await client.request(`$SRV.PING.${name}`)).json<Record<string, unknown>>();
      expect(ping).toMatchObject({
        type: 'io.nats.micro.v1.ping_response',
        name,
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      });
      const info = (await client.request(`$SRV.INFO.${name}`)).json<{ endpoints: Record<string, unknown>[] }>();
      expect(info.endpoints.map((endpoint) => endpoint['queue_group'])).toEqual(['library', 'library', 'library']);
      const stats = (await client.request(`$SRV.STATS.${name}.${String(ping['id'])}`)).json<{
        endpoints: Record<string, unknown>[];
      }>();
      expect(stats.endpoints[0]).toMatchObject({
        name: 'books_get',
        num_requests: 2,
        num_errors: 1,
        last_error: expect.stringContaining('400:'),
      });
      await client.close();
    });
  });
});
