import { describe, expect, it } from '@jest/globals';
import { Type, type Callers, anyActor, byClients, byOperators, defineService, event, job, ownAccount, route, rpc } from './index.ts';

const empty = Type.Object({});
const callers = { other: ownAccount };
const get = rpc({ subject: 'things.thing.get', callers, summary: 'Get', request: empty, reply: empty });

describe('defineService (architecture#contracts)', () => {
  it('refuses a subject that is declared twice', () => {
    expect(() => defineService({ service: 'things', rpcs: { get, again: get }, jobs: {}, events: {} })).toThrow(
      '"things.thing.get" is declared twice',
    );
  });

  it('refuses a subject, job or event of another service', () => {
    expect(() => defineService({ service: 'other', rpcs: { get }, jobs: {}, events: {} })).toThrow('belongs to another service');
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

  it('refuses an operation that nobody may call, or its own service', () => {
    expect(declare('things.thing.get', {})).toThrow('nobody');
    expect(declare('things.thing.get', { other: [] })).toThrow('nobody');
    expect(declare('things.thing.get', { things: ownAccount })).toThrow('the service itself');
  });

  it('keeps subjects of the admin CLI for it alone', () => {
    expect(declare('admin.things.thing.get', byOperators)).not.toThrow();
    expect(declare('things.thing.get', byOperators)).toThrow('"admin."');
    expect(declare('admin.things.thing.get', byClients)).toThrow('"admin."');
    expect(declare('admin.things.thing.get', { ...byOperators, ...byClients })).toThrow('"admin."');
  });

  it('refuses an operation of which a caller would get more by leaving the actor out', () => {
    expect(declare('things.thing.get', { ...byClients, one: ownAccount })).not.toThrow();
    expect(declare('things.thing.get', { one: ownAccount, two: [...anyActor, ...ownAccount] })).not.toThrow();
    expect(declare('things.thing.get', { one: ownAccount, two: anyActor })).toThrow('by one, and whoever else');
  });

  it('freezes declarations and fills defaults', () => {
    expect(Object.isFrozen(get)).toBe(true);
    expect(get.timeoutMs).toBe(10_000);
    expect(job({ type: 'a.b', summary: '', payload: empty, policy: { maxAttempts: 3 } }).policy).toMatchObject({
      maxAttempts: 3,
      firstDelayMs: 1_000,
    });
  });
});

describe('route (architecture#contracts)', () => {
  it('needs exactly one of rpc and handler', () => {
    const base = { method: 'GET', path: '/a', operationId: 'a', tag: 't', summary: 's', auth: 'none', replies: {} } as const;
    expect(() => route(base)).toThrow('exactly one of rpc and handler');
    expect(() => route({ ...base, rpc: get, handler: 'media' })).toThrow('exactly one of rpc and handler');
    expect(route({ ...base, rpc: get }).rpc).toBe(get);
  });
});
