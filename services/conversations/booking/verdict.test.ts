import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BookingEvent, chooseBookings, readJourneyHint } from './rules/booking-event.ts';
import { type BookingTrust, judgeWebhook } from './verdict.ts';

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

describe('several secrets (K8)', () => {
  const body = Buffer.from('{"triggerEvent":"BOOKING_CREATED"}');
  const trust = { ...signed, BOOKING_WEBHOOK_SECRET: ' new  old\nolder ' };
  const signBy = (secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

  it('each vouch for an event, which tells by which it is signed', () => {
    const judged = ['new', 'old', 'older'].map((secret) => judgeWebhook({ body, signature: signBy(secret) }, trust));
    expect(judged.map(({ kind, signer }) => [kind, signer])).toEqual([
      ['booking', 0],
      ['booking', 1],
      ['booking', 2],
    ]);
  });

  it.each(['oldest', '', 'new old', ' new  old\nolder '])('vouch for nothing that is signed with %j', (secret) => {
    expect(judgeWebhook({ body, signature: signBy(secret) }, trust)).toMatchObject({ outcome: 'rejected_signature' });
  });
});

describe('the fields of a booking event (rules/providers#calcom; D19, D19a)', () => {
  it('orders identifiers by rescheduleUid, uid, bookingId, iCalUID', () => {
    const payload = { iCalUID: 'c@Cal.com', bookingId: 502, uid: 'b', rescheduleUid: 'a' };
    expect(read(payload).identifiers).toEqual(['uid:a', 'uid:b', 'id:502', 'ical:c@Cal.com']);
    expect(read({ uid: 'a', rescheduleUid: 'a' }).identifiers).toEqual(['uid:a']);
  });

  it.each([[''], ['  '], ['x'.repeat(256)], [null], [{}], [true]])('takes %p for no identifier', (uid) => {
    expect(read({ uid }).identifiers).toEqual([]);
  });

  it.each(['\u0000', '\u0001', '\u001f', '\u007f', '\u0080', '\u009f', '\n', '\ud800'])(
    'takes %j out of names, titles and slugs, and refuses nothing for it (D74)',
    (control) => {
      const dirty = (text: string): string => `${control}${text.slice(0, 1)}${control}${text.slice(1)}${control}`;
      const event = read({
        uid: 'a',
        title: dirty('Talk'),
        attendees: [{ name: dirty('Ada'), email: dirty('ada@example.org') }, { name: control }],
        metadata: { videoCallUrl: `https://x.example.org/${encodeURIComponent(control.toWellFormed())}circle` },
      });
      const clean = (text: string): string => text.replaceAll('\ufffd', '');
      expect(clean(event.title ?? '')).toBe('Talk');
      expect(event.attendees.map(({ name, email }) => [clean(name), clean(email ?? '')])).toContainEqual(['Ada', 'ada@example.org']);
      expect(clean(readJourneyHint(event.videoCallUrl)?.slugs[0] ?? '')).toBe('circle');
    },
  );

  it('keeps the lines of a reason and takes other control characters out of it', () => {
    expect(read({ cancellationReason: 'ill\r\n\tsorry\u0007\u009b' }).cancellationReason).toBe('ill\r\n\tsorry');
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

describe('what an event is matched by (D65)', () => {
  const payload = { uid: 'b', rescheduleUid: 'a', bookingId: 502, rescheduleId: 501, iCalUID: 'c' };
  const all = ['uid:a', 'uid:b', 'id:502', 'id:501', 'ical:c'];
  const numbers = all.slice(2);
  const cancel = (fields: object, isSigned: boolean): readonly string[] => {
    const body = Buffer.from(JSON.stringify({ triggerEvent: 'BOOKING_CANCELLED', payload: fields }));
    const verdict = judgeWebhook(
      { body, signature: createHmac('sha256', 'secret').update(body).digest('hex') },
      isSigned ? signed : unsigned,
    );
    return verdict.kind === 'booking' ? verdict.event.matchers : [];
  };

  it('is everything that names it, uids first', () => {
    expect(read(payload).matchers).toEqual(all);
    expect(read({ ...payload, uid: undefined, rescheduleUid: undefined }).matchers).toEqual(numbers);
  });

  it('is for a cancellation its uids; a number only when it is signed and has none', () => {
    expect(cancel(payload, true)).toEqual(all.slice(0, 2));
    expect(cancel({ ...payload, rescheduleUid: undefined }, true)).toEqual(['uid:b']);
    expect(cancel({ ...payload, uid: '', rescheduleUid: undefined }, true)).toEqual(numbers);
    expect(cancel({ ...payload, uid: undefined, rescheduleUid: undefined }, false)).toEqual([]);
  });

  it('decides by the first that is known; uids alone make several bookings one', () => {
    const [a, b, c] = [
      { id: 1, identifier: 'uid:a' },
      { id: 2, identifier: 'uid:b' },
      { id: 3, identifier: 'id:502' },
    ];
    const choose = (...rows: { id: number; identifier: string }[]) => chooseBookings(rows).map(({ id }) => id);
    expect(choose()).toEqual([]);
    expect(choose(a, b, c)).toEqual([1, 2]);
    expect(choose(a, c)).toEqual([1]);
    expect(choose(c, { id: 4, identifier: 'ical:c' })).toEqual([3]);
    expect(choose(a, { ...a, identifier: 'uid:b' }, { ...a, identifier: 'id:502' })).toEqual([1]);
  });
});
