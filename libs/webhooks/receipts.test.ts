import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createRefusalLimit, keepBody, keepHeaders } from '#libs/webhooks';

const body = Buffer.from('{"secret":"words"}');
const digest = createHash('sha256').update(body).digest('hex');

describe('keepBody (D68)', () => {
  it.each(['rejected_unsigned', 'rejected_signature', 'rejected_secret', 'rejected_unreadable', 'ignored', 'agent_not_found'])(
    'keeps of what is %s the digest and the size alone',
    (outcome) => expect(keepBody(outcome, body)).toEqual({ body: null, digest, size: body.length }),
  );

  it.each(['pending', 'applied', 'waiting', 'journey_error', 'person_not_found', 'refused_too_many_attendees'])(
    'keeps the body of what is %s',
    (outcome) => expect(keepBody(outcome, body)).toEqual({ body, digest, size: body.length }),
  );

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
  it('gives so many of an outcome and an hour receipts of their own, and the others of the hour one', () => {
    const find = createRefusalLimit(2);
    const at = (minute: number) => `2030-01-01T10:${minute}:00.000Z`;
    expect([10, 20, 30, 40].map((minute) => find('rejected_signature', at(minute)))).toEqual([
      undefined,
      undefined,
      'refused:rejected_signature:2030-01-01T10',
      'refused:rejected_signature:2030-01-01T10',
    ]);
    expect(find('rejected_unreadable', at(41))).toBeUndefined();
    expect(find('rejected_signature', '2030-01-01T11:00:00.000Z')).toBeUndefined();
    expect(find('rejected_signature', at(59))).toBe('refused:rejected_signature:2030-01-01T10');
  });
});
