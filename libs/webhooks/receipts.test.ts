import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createRefusalLimit, keepBody, keepHeaders } from '#libs/webhooks';

const body = Buffer.from('{"secret":"words"}');
const digest = createHash('sha256').update(body).digest('hex');

describe('keepBody (D68)', () => {
  it.each(['rejected_unsigned', 'rejected_signature', 'rejected_secret', 'ignored'])(
    'keeps of what is %s the digest and the size alone',
    (outcome) => expect(keepBody(outcome, body)).toEqual({ body: null, digest, size: body.length }),
  );

  it.each(['pending', 'applied', 'waiting', 'journey_error', 'person_not_found', 'refused_too_many_attendees'])(
    'keeps the body of what is %s',
    (outcome) => expect(keepBody(outcome, body)).toEqual({ body, digest, size: body.length }),
  );

  it.each(['rejected_unreadable', 'agent_not_found'])('keeps the body of what is %s up to 64 KiB (D68)', (outcome) => {
    for (const [size, isKept] of [
      [65_536, true],
      [65_537, false],
    ] as const) {
      const given = Buffer.alloc(size, 'x');
      expect(keepBody(outcome, given)).toMatchObject({ body: isKept ? given : null, size });
    }
  });

  it('tells a body that was too large to be read from an empty one', () => {
    expect(keepBody('rejected_too_large', null)).toEqual({ body: null, digest: null, size: null });
    expect(keepBody('rejected_unreadable', Buffer.alloc(0))).toMatchObject({ body: null, size: 0 });
  });
});

describe('keepHeaders (D68)', () => {
  const headers = { 'x-signature': 'a'.repeat(10_000) };
  it('keeps as much of a header of a refusal as tells what it was, and all of any other', () => {
    expect(keepHeaders('rejected_signature', headers)).toEqual({ 'x-signature': 'a'.repeat(200) });
    expect(keepHeaders('pending', headers)).toEqual(headers);
  });
});

describe('createRefusalLimit (D68)', () => {
  const few = (count: number, at: (n: number) => string, kind = 'rejected_signature', isOneOfFew = createRefusalLimit()): number =>
    Array.from({ length: count }, (_value, n) => isOneOfFew(kind, at(n))).filter(Boolean).length;

  it('says of a hundred within an hour that they are few, for each kind and each hour anew', () => {
    const limit = createRefusalLimit();
    expect(few(250, () => '2030-01-01T10:30:00.000Z', 'rejected_signature', limit)).toBe(100);
    expect(few(250, () => '2030-01-01T10:30:00.000Z', 'rejected_unreadable', limit)).toBe(100);
    expect(few(250, () => '2030-01-01T11:00:00.000Z', 'rejected_signature', limit)).toBe(100);
  });

  it('says it of five hundred within a day', () => {
    const at = (n: number): string => `2030-01-01T${String(n % 24).padStart(2, '0')}:00:00.000Z`;
    expect(few(2_400, at)).toBe(500);
    const limit = createRefusalLimit();
    expect([few(2_400, at, 'x', limit), few(99, () => '2030-01-02T00:00:00.000Z', 'x', limit)]).toEqual([500, 99]);
  });
});
