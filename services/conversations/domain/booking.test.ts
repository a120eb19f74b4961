import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { joinIds, judgeWebhook, type BookingTrust, readJourneyHint, type BookingEvent } from './booking.ts';

const unsigned: BookingTrust = { BOOKING_WEBHOOK_SECRET: '', ALLOW_UNSIGNED_WEBHOOKS: true };
const signed: BookingTrust = { BOOKING_WEBHOOK_SECRET: 'secret', ALLOW_UNSIGNED_WEBHOOKS: false };
const judge = (value: unknown) => judgeWebhook({ body: Buffer.from(JSON.stringify(value)), signature: undefined }, unsigned);
const read = (payload: object, envelope: object = {}): BookingEvent => {
  const verdict = judge({ triggerEvent: 'BOOKING_CREATED', ...envelope, payload });
  if (verdict.kind !== 'booking') throw new Error(`judged ${verdict.kind}`);
  return verdict.event;
};

describe('judgeWebhook (D19, D33d)', () => {
  it('never throws, whatever the bytes are', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect(judgeWebhook({ body: Buffer.from(bytes), signature: undefined }, unsigned).kind).toMatch(/^(rejected|ignored)$/);
        },
      ),
    );
  });

  it('reads any shape of payload as an event, wrong types as missing', () => {
    const keys = [
      'uid',
      'rescheduleUid',
      'bookingId',
      'iCalUID',
      'title',
      'startTime',
      'endTime',
      'attendees',
      'metadata',
      'cancellationReason',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), fc.jsonValue(), (payload, createdAt) => {
        const event = read(payload, { createdAt });
        expect(event.identifiers.every((item) => /^(uid|id|ical):./s.test(item))).toBe(true);
        expect(event.attendees.every(({ name }) => name !== '')).toBe(true);
      }),
    );
  });

  it.each([
    ['a booking', '{"triggerEvent":"BOOKING_CANCELLED","payload":{"bookingId":1}}'],
    ['what is no booking', '{"triggerEvent":"PING"}'],
    ['what cannot be read', 'nonsense'],
  ])('rejects %s where no secret is set and unsigned webhooks are not allowed (D64)', (_what, text) => {
    const trust = { BOOKING_WEBHOOK_SECRET: '', ALLOW_UNSIGNED_WEBHOOKS: false };
    const signature = createHmac('sha256', '').update(text).digest('hex');
    for (const given of [undefined, signature]) {
      const verdict = judgeWebhook({ body: Buffer.from(text), signature: given }, trust);
      expect(verdict).toMatchObject({
        kind: 'rejected',
        outcome: 'rejected_unsigned',
        message: expect.stringContaining('BOOKING_WEBHOOK_SECRET'),
      });
    }
  });

  it('asks for the signature where a secret is set, also when unsigned webhooks are allowed (D64)', () => {
    const raw = { body: Buffer.from('{"triggerEvent":"BOOKING_CREATED"}'), signature: undefined };
    expect(judgeWebhook(raw, { ...signed, ALLOW_UNSIGNED_WEBHOOKS: true })).toMatchObject({ outcome: 'rejected_signature' });
  });

  it('checks the signature of the exact bytes when a secret is set, before it reads them', () => {
    const body = Buffer.from('{"triggerEvent": "BOOKING_CREATED"}');
    const signature = createHmac('sha256', 'secret').update(body).digest('hex');
    expect(judgeWebhook({ body, signature }, signed).kind).toBe('booking');
    for (const wrong of [undefined, '', 'no-secret-provided', signature.slice(1), `${signature}0`, `sha256=${signature}`]) {
      expect(judgeWebhook({ body, signature: wrong }, signed)).toMatchObject({ outcome: 'rejected_signature' });
    }
    expect(judgeWebhook({ body: Buffer.from('nonsense'), signature }, signed)).toMatchObject({ outcome: 'rejected_signature' });
    expect(judgeWebhook({ body: Buffer.from(`${body.toString()} `), signature }, signed)).toMatchObject({
      outcome: 'rejected_signature',
    });
  });
});

describe('the fields of a booking event (providers §1; D19, D19a)', () => {
  it('orders identifiers by rescheduleUid, uid, bookingId, iCalUID', () => {
    const payload = { iCalUID: 'c@Cal.com', bookingId: 502, uid: 'b', rescheduleUid: 'a' };
    expect(read(payload).identifiers).toEqual(['uid:a', 'uid:b', 'id:502', 'ical:c@Cal.com']);
    expect(read({ uid: 'a', rescheduleUid: 'a' }).identifiers).toEqual(['uid:a']);
  });

  it.each([[''], ['  '], ['x'.repeat(256)], [null], [{}], [true]])('takes %p for no identifier', (uid) => {
    expect(read({ uid }).identifiers).toEqual([]);
  });

  it('reads times in any offset and drops what is none', () => {
    const event = read({ startTime: '2030-01-16T12:00:00+00:00', endTime: 'later' }, { createdAt: '2030-01-10T09:00:00.120Z' });
    expect([event.start, event.finish, event.createdAt]).toEqual([1_894_795_200_000_000n, undefined, 1_894_266_000_120_000n]);
  });

  it('reads attendees with and without an email', () => {
    const attendees = [{ name: 'A', email: ' a@example.org ' }, { email: 'b@example.org' }, { name: 'C', email: '' }, {}, 'no person'];
    expect(read({ attendees }).attendees).toEqual([
      { name: 'A', email: 'a@example.org' },
      { name: 'b@example.org', email: 'b@example.org' },
      { name: 'C', email: null },
      { name: 'Guest', email: null },
    ]);
  });
});

describe('readJourneyHint (D19)', () => {
  it.each([
    ['https://x.example.org/a/b?journey=c', ['c'], true],
    ['https://x.example.org/a/b?journey=', ['b', 'a'], false],
    ['https://x.example.org/a//b/', ['b', 'a'], false],
    ['https://x.example.org/a%20b/%ZZ#open', ['%ZZ', 'a b'], false],
    ['x.example.org/a', ['a', 'x.example.org'], false],
    ['https://x.example.org', [], false],
  ])('of %s tries %j', (url, slugs, named) => {
    expect(readJourneyHint(url)).toEqual({ slugs, named });
  });

  it.each([null, '', '  ', 'http://'])('is undefined without a readable URL: %p', (url) => {
    expect(readJourneyHint(url)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (url) => void readJourneyHint(url)));
    expect(readJourneyHint('https://[::1')).toBeUndefined();
  });
});

describe('joinIds (D19a: later events add participants and never remove any)', () => {
  it('keeps the order of the first list and adds each new id once', () => {
    expect(joinIds([3, 1], [1, 2, 2, 3])).toEqual([3, 1, 2]);
  });
});
