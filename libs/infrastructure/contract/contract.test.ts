import { describe, expect, it } from '@jest/globals';
import {
  Type,
  type ReplyBodyOf,
  type Callers,
  type InputOf,
  anyActor,
  byClients,
  byOperators,
  defineService,
  event,
  job,
  withoutActor,
  route,
  rpc,
} from './index.ts';

const empty = Type.Object({});
const callers = { other: withoutActor };
const get = rpc({ subject: 'things.thing.get', callers, summary: 'Get', request: empty, reply: empty });

describe('defineService (architecture#contracts)', () => {
  it('rejects a subject that is declared twice', () => {
    expect(() => defineService({ service: 'things', rpcs: { get, again: get }, jobs: {}, events: {} })).toThrow(
      '"things.thing.get" is declared twice',
    );
  });

  it('rejects a subject, job or event of another service', () => {
    expect(() => defineService({ service: 'other', rpcs: { get }, jobs: {}, events: {} })).toThrow(
      'belongs to another service',
    );
    const jobs = { clean: job({ type: 'things.clean', summary: 'Clean', payload: empty }) };
    expect(() => defineService({ service: 'other', rpcs: {}, jobs, events: {} })).toThrow('belongs to another service');
    const events = { made: event({ subject: 'events.things.thing.made', summary: 'Made', payload: empty }) };
    expect(() => defineService({ service: 'other', rpcs: {}, jobs: {}, events })).toThrow('belongs to another service');
    expect(defineService({ service: 'things', rpcs: { get }, jobs, events }).rpcs.get).toBe(get);
  });

  const declare = (subject: string, who: Callers) => () =>
    defineService({
      service: 'things',
      rpcs: { thing: rpc({ subject, callers: who, summary: '', request: empty, reply: empty }) },
      jobs: {},
      events: {},
    });

  it('rejects an operation without callers and one that calls itself', () => {
    expect(declare('things.thing.get', {})).toThrow('no caller');
    expect(declare('things.thing.get', { other: [] })).toThrow('no caller');
    expect(declare('things.thing.get', { things: withoutActor })).toThrow('the service itself');
  });

  it('restricts subjects of the admin CLI to the caller `cli`', () => {
    expect(declare('admin.things.thing.get', byOperators)).not.toThrow();
    expect(declare('things.thing.get', byOperators)).toThrow('"admin."');
    expect(declare('admin.things.thing.get', byClients)).toThrow('"admin."');
    expect(declare('admin.things.thing.get', { ...byOperators, ...byClients })).toThrow('"admin."');
  });

  it('rejects an operation that would grant callers more rights without an actor', () => {
    expect(declare('things.thing.get', { ...byClients, one: withoutActor })).not.toThrow();
    expect(declare('things.thing.get', { one: withoutActor, two: [...anyActor, ...withoutActor] })).not.toThrow();
    expect(declare('things.thing.get', { one: withoutActor, two: anyActor })).toThrow('one may omit the actor');
  });

  it('freezes declarations and adds defaults', () => {
    expect(Object.isFrozen(get)).toBe(true);
    expect(get.timeoutMs).toBe(10_000);
    expect(job({ type: 'a.b', summary: '', payload: empty, policy: { maxAttempts: 3 } }).policy).toMatchObject({
      maxAttempts: 3,
      firstDelayMs: 1_000,
    });
  });
});

describe('route (architecture#contracts)', () => {
  const base = {
    method: 'GET',
    path: '/a/{id}',
    operationId: 'a',
    tag: 't',
    summary: 's',
    auth: 'none',
    replies: {},
  } as const;
  const params = Type.Object({ id: Type.Integer() });
  const byId = rpc({ subject: 'things.thing.read', callers, summary: 'Read', request: params, reply: empty });
  const byName = rpc({
    subject: 'things.thing.find',
    callers,
    summary: 'Find',
    request: Type.Object({ name: Type.String(), limit: Type.Optional(Type.Integer()) }),
    reply: empty,
  });

  it('requires either `rpc` or `handler` in a route', () => {
    // @ts-expect-error neither of them
    expect(() => route(base)).toThrow('exactly one of rpc and handler');
    // @ts-expect-error both of them
    expect(() => route({ ...base, rpc: get, handler: 'media' })).toThrow('exactly one of rpc and handler');
    expect(route({ ...base, rpc: get }).rpc).toBe(get);
  });

  it('requires toRequest when the fields of the route differ from the RPC', () => {
    expect(route({ ...base, params, rpc: byId }).rpc).toBe(byId);
    // @ts-expect-error the operation takes a name, and the route does not say which
    route({ ...base, params, rpc: byName });
    // @ts-expect-error nor does it when the fields of the path are not declared
    route({ ...base, rpc: byId });
  });

  it('checks the result of toRequest against the schemas of the route and the RPC', () => {
    const query = Type.Object({ limit: Type.Optional(Type.Integer()) });
    const said = route({
      ...base,
      params,
      query,
      rpc: byName,
      toRequest: (input) => ({ name: `${input.params.id}`, limit: input.query.limit }),
    });
    expect(said.rpc).toBe(byName);
    // @ts-expect-error the id is a number, the name is none
    route({ ...base, params, rpc: byName, toRequest: (input) => ({ name: input.params.id }) });
    // @ts-expect-error no such parameter
    route({ ...base, params, rpc: byName, toRequest: (input) => ({ name: input.params.slug }) });
  });

  it('infers the argument types of a handler from its route', () => {
    const replies = { 200: { description: 'OK', schema: Type.Object({ ok: Type.Literal(true) }) } };
    const handled = route({ ...base, params, replies, handler: 'thing' });
    const input: Pick<InputOf<typeof handled>, 'params'> = { params: { id: 1 } };
    const answer: ReplyBodyOf<typeof handled> = { ok: true };
    // @ts-expect-error the id is a number
    input.params.id = 'one';
    // @ts-expect-error another answer than the documented one
    answer.ok = false;
    expect(handled.handler).toBe('thing');
  });
});
