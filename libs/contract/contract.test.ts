import { describe, expect, it } from '@jest/globals';
import { Type, defineService, event, job, route, rpc } from './index.ts';

const empty = Type.Object({});
const get = rpc({ subject: 'things.thing.get', summary: 'Get', request: empty, reply: empty });

describe('defineService (architecture §5)', () => {
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

  it('freezes declarations and fills defaults', () => {
    expect(Object.isFrozen(get)).toBe(true);
    expect(get.timeoutMs).toBe(10_000);
    expect(job({ type: 'a.b', summary: '', payload: empty, policy: { maxAttempts: 3 } }).policy).toMatchObject({
      maxAttempts: 3,
      firstDelayMs: 1_000,
    });
  });
});

describe('route (architecture §5)', () => {
  it('needs exactly one of rpc and handler', () => {
    const base = { method: 'GET', path: '/a', operationId: 'a', tag: 't', summary: 's', auth: 'none', replies: {} } as const;
    expect(() => route(base)).toThrow('exactly one of rpc and handler');
    expect(() => route({ ...base, rpc: get, handler: 'media' })).toThrow('exactly one of rpc and handler');
    expect(route({ ...base, rpc: get }).rpc).toBe(get);
  });
});
