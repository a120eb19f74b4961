import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Msg, MsgHdrsImpl } from '@nats-io/transport-node';
import type { Rpc } from '#libs/infrastructure/contract';
import { unavailable } from '#libs/infrastructure/errors';
import type { Logger } from '#libs/infrastructure/logger';
import { ServedContext } from './served-context.ts';
import { encodeContext, encodeHeaders, parseErrorBody, readHeader } from './wire.ts';

const decode = (encoded: unknown): MsgHdrsImpl => MsgHdrsImpl.decode((encoded as MsgHdrsImpl).encode());

describe('headers on NATS (architecture#rpc)', () => {
  it('transfers the headers of a request to the receiver unchanged', () => {
    const read = decode(encodeContext({ requestId: 'r-1: ü\n', traceparent: '00-1-2-01' }, 17, 'a.b.c'));
    expect(Object.fromEntries(read.keys().map((key) => [key, read.get(key)]))).toEqual({
      'Request-Id': 'r-1: ü',
      Deadline: '17',
      Actor: 'a.b.c',
      traceparent: '00-1-2-01',
    });
  });

  it('passes the client’s idempotency key to the operation, but not to nested calls (I1)', () => {
    const headers = decode(encodeContext({ requestId: 'r', sentIdempotencyKey: 'k-1' }, 17, undefined));
    const served = new ServedContext({ subject: 'a.b' } as Rpc, { headers } as unknown as Msg, {} as Logger);
    expect(served.idempotencyKey).toBe('k-1');
    expect(decode(encodeContext(served, 17, undefined)).keys()).toEqual(['Request-Id', 'Deadline']);
  });

  it('writes well-formed headers for any value', () => {
    const property = fc.property(fc.string({ unit: 'binary' }), (value) => {
      const read = decode(encodeHeaders({ 'Request-Id': value, Digest: 'last' }));
      expect(read.keys()).toEqual(['Request-Id', 'Digest']);
      expect(read.get('Digest')).toBe('last');
    });
    fc.assert(property);
  });

  it('finds a header by name', () => {
    expect(readHeader(decode(encodeHeaders({ Chunk: '3', Outcome: undefined })), 'Chunk')).toBe('3');
    expect(readHeader(undefined, 'Chunk')).toBeUndefined();
  });
});

describe('error replies', () => {
  it('decodes an error reply to the error that the operation threw', () => {
    const bytes = Buffer.from(JSON.stringify(unavailable('later').toBody()));
    expect(parseErrorBody(bytes)).toMatchObject({ code: 'unavailable', message: 'later' });
  });

  it('decodes a malformed error reply to an internal error', () => {
    for (const text of ['', 'nonsense', '{"code":"toString","message":"x"}', '{"message":"x"}']) {
      expect(parseErrorBody(Buffer.from(text)).toBody()).toEqual({ code: 'internal', message: 'Internal error' });
    }
  });
});
