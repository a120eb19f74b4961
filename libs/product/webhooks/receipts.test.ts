import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createRefusalLimit, selectStoredBody, selectStoredHeaders } from '#libs/product/webhooks';

const body = Buffer.from('{"secret":"words"}');
const digest = createHash('sha256').update(body).digest('hex');

describe('selectStoredBody (D68)', () => {
  it.each(['rejected_unsigned', 'rejected_signature', 'rejected_secret', 'ignored'])(
    'stores only digest and size of a webhook body with outcome %s',
    (outcome) => expect(selectStoredBody(outcome, body)).toEqual({ body: null, digest, size: body.length }),
  );

  it.each(['pending', 'applied', 'waiting', 'journey_error', 'person_not_found', 'refused_too_many_attendees'])(
    'stores the webhook body with outcome %s',
    (outcome) => expect(selectStoredBody(outcome, body)).toEqual({ body, digest, size: body.length }),
  );

  it.each(['rejected_unreadable', 'agent_not_found'])(
    'stores up to 64 KiB of a webhook body with outcome %s',
    (outcome) => {
      for (const [size, isStored] of [
        [65_536, true],
        [65_537, false],
      ] as const) {
        const large = Buffer.alloc(size, 'x');
        expect(selectStoredBody(outcome, large)).toMatchObject({ body: isStored ? large : null, size });
      }
    },
  );

  it('distinguishes a body too large to be read from an empty body', () => {
    expect(selectStoredBody('rejected_too_large', null)).toEqual({ body: null, digest: null, size: null });
    expect(selectStoredBody('rejected_unreadable', Buffer.alloc(0))).toMatchObject({ body: null, size: 0 });
  });
});

describe('selectStoredHeaders (D68)', () => {
  const headers = { 'x-signature': 'a'.repeat(10_000) };
  it('truncates the headers of rejected webhooks, and of no others', () => {
    expect(selectStoredHeaders('rejected_signature', headers)).toEqual({ 'x-signature': 'a'.repeat(200) });
    expect(selectStoredHeaders('pending', headers)).toEqual(headers);
  });
});

describe('createRefusalLimit (D68)', () => {
  const countAllowed = (
    count: number,
    at: (n: number) => string,
    kind = 'rejected_signature',
    isBelowLimit = createRefusalLimit(),
  ): number => Array.from({ length: count }, (_value, n) => isBelowLimit(kind, at(n))).filter(Boolean).length;

  it('allows 100 receipts of each rejection per hour', () => {
    const limit = createRefusalLimit();
    expect(countAllowed(250, () => '2030-01-01T10:30:00.000Z', 'rejected_signature', limit)).toBe(100);
    expect(countAllowed(250, () => '2030-01-01T10:30:00.000Z', 'rejected_unreadable', limit)).toBe(100);
    expect(countAllowed(250, () => '2030-01-01T11:00:00.000Z', 'rejected_signature', limit)).toBe(100);
  });

  it('allows 500 receipts of each rejection per day', () => {
    const at = (n: number): string => `2030-01-01T${String(n % 24).padStart(2, '0')}:00:00.000Z`;
    expect(countAllowed(2_400, at)).toBe(500);
    const limit = createRefusalLimit();
    expect([
      countAllowed(2_400, at, 'x', limit),
      countAllowed(99, () => '2030-01-02T00:00:00.000Z', 'x', limit),
    ]).toEqual([500, 99]);
  });
});
