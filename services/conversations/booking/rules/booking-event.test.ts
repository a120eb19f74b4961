import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type BookingEvent,
  type SignaturePolicy,
  mergeIds,
  classifyWebhook,
  readJourneyHint,
} from './booking-event.ts';
import { chooseBookings, chooseNumbered, findMovedGuests, type SeatState } from './seats.ts';

const unsigned: SignaturePolicy = { BOOKING_WEBHOOK_SECRET: '', ALLOW_UNSIGNED_WEBHOOKS: true };
const signed: SignaturePolicy = { BOOKING_WEBHOOK_SECRET: 'secret', ALLOW_UNSIGNED_WEBHOOKS: false };
const classify = (value: unknown) =>
  classifyWebhook({ body: Buffer.from(JSON.stringify(value)), signature: undefined }, unsigned);
const read = (payload: object, envelope: object = {}): BookingEvent => {
  const classification = classify({ triggerEvent: 'BOOKING_CREATED', ...envelope, payload });
  if (classification.kind !== 'booking') throw new Error(`classified ${classification.kind}`);
  return classification.event;
};

describe('classifyWebhook (D19, D33d)', () => {
  it('classifies any bytes without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          expect(classifyWebhook({ body: Buffer.from(bytes), signature: undefined }, unsigned).kind).toMatch(
            /^(rejected|ignored)$/,
          );
        },
      ),
    );
  });

  it('reads any shape of payload as an event, with values of a wrong type as missing', () => {
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
        expect([...event.uids, ...event.numbers].every((item) => /^(uid|id|ical):./s.test(item))).toBe(true);
        expect(event.attendees.every(({ name }) => name !== '')).toBe(true);
      }),
    );
  });

  it.each([
    ['a booking', '{"triggerEvent":"BOOKING_CANCELLED","payload":{"bookingId":1}}'],
    ['what is no booking', '{"triggerEvent":"PING"}'],
    ['what cannot be read', 'nonsense'],
  ])('rejects %s when no secret is configured and unsigned webhooks are not allowed (D64)', (_what, text) => {
    const policy = { BOOKING_WEBHOOK_SECRET: '', ALLOW_UNSIGNED_WEBHOOKS: false };
    const signature = createHmac('sha256', '').update(text).digest('hex');
    for (const given of [undefined, signature]) {
      const classification = classifyWebhook({ body: Buffer.from(text), signature: given }, policy);
      expect(classification).toMatchObject({
        kind: 'rejected',
        outcome: 'rejected_unsigned',
        message: expect.stringContaining('BOOKING_WEBHOOK_SECRET'),
      });
    }
  });

  it('requires a signature when a secret is configured, even if unsigned webhooks are allowed (D64)', () => {
    const raw = { body: Buffer.from('{"triggerEvent":"BOOKING_CREATED"}'), signature: undefined };
    expect(classifyWebhook(raw, { ...signed, ALLOW_UNSIGNED_WEBHOOKS: true })).toMatchObject({
      outcome: 'rejected_signature',
    });
  });

  it('verifies the signature of the exact bytes before it parses them', () => {
    const body = Buffer.from('{"triggerEvent": "BOOKING_CREATED"}');
    const signature = createHmac('sha256', 'secret').update(body).digest('hex');
    expect(classifyWebhook({ body, signature }, signed).kind).toBe('booking');
    for (const wrong of [
      undefined,
      '',
      'no-secret-provided',
      signature.slice(1),
      `${signature}0`,
      `sha256=${signature}`,
    ]) {
      expect(classifyWebhook({ body, signature: wrong }, signed)).toMatchObject({ outcome: 'rejected_signature' });
    }
    expect(classifyWebhook({ body: Buffer.from('nonsense'), signature }, signed)).toMatchObject({
      outcome: 'rejected_signature',
    });
    expect(classifyWebhook({ body: Buffer.from(`${body.toString()} `), signature }, signed)).toMatchObject({
      outcome: 'rejected_signature',
    });
  });
});

describe('several webhook secrets (K8)', () => {
  const body = Buffer.from('{"triggerEvent":"BOOKING_CREATED"}');
  const policy = { ...signed, BOOKING_WEBHOOK_SECRET: ' new  old\nolder ' };
  const signBy = (secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

  it('accepts a signature by any of the secrets, and reports which secret signed', () => {
    const classified = ['new', 'old', 'older'].map((secret) =>
      classifyWebhook({ body, signature: signBy(secret) }, policy),
    );
    expect(classified.map(({ kind, signer }) => [kind, signer])).toEqual([
      ['booking', 0],
      ['booking', 1],
      ['booking', 2],
    ]);
  });

  it.each(['oldest', '', 'new old', ' new  old\nolder '])('rejects a signature made with the secret %j', (secret) => {
    expect(classifyWebhook({ body, signature: signBy(secret) }, policy)).toMatchObject({
      outcome: 'rejected_signature',
    });
  });
});

describe('the fields of a booking event (rules/providers#calcom; D19, D19a)', () => {
  it('lists identifiers in the order rescheduleUid, uid, bookingId, iCalUID', () => {
    const payload = { iCalUID: 'c@Cal.com', bookingId: 502, uid: 'b', rescheduleUid: 'a' };
    const { uids, numbers } = read(payload);
    expect([uids, numbers]).toEqual([
      ['uid:a', 'uid:b'],
      ['id:502', 'ical:c@Cal.com'],
    ]);
    expect(read({ uid: 'a', rescheduleUid: 'a' }).uids).toEqual(['uid:a']);
  });

  it.each([[''], ['  '], ['x'.repeat(256)], [null], [{}], [true]])('ignores the identifier %p', (uid) => {
    expect(read({ uid }).uids).toEqual([]);
  });

  it.each(['\u0000', '\u0001', '\u001f', '\u007f', '\u0080', '\u009f', '\u202e', '\u200b', '\ud800'])(
    'removes %j from names, titles and slugs, and does not reject the event (D74)',
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
      expect(event.attendees.map(({ name, email }) => [clean(name), clean(email ?? '')])).toContainEqual([
        'Ada',
        'ada@example.org',
      ]);
      expect(clean(readJourneyHint(event.videoCallUrl)?.slugs[0] ?? '')).toBe('circle');
    },
  );

  it('replaces line breaks and tabs by a space in names and titles, and removes them from email addresses (rules/webhooks#text)', () => {
    const event = read({
      uid: 'a',
      title: 'A\ntalk\tabout\r\nlines',
      attendees: [
        { name: 'Ada\nLovelace', email: 'ada@\nexample.org' },
        { name: '\u200b\u3164', email: 'b@example.org' },
      ],
      metadata: { videoCallUrl: 'https://x.example.org/cir\n\tcle' },
    });
    expect(event.title).toBe('A talk about lines');
    expect(event.attendees).toMatchObject([
      { name: 'Ada Lovelace', email: 'ada@example.org' },
      { name: 'b@example.org', email: 'b@example.org' },
    ]);
    expect(readJourneyHint(event.videoCallUrl)?.slugs).toEqual(['circle']);
  });

  it('parses a booking with characters that cannot be stored in any field (rules/webhooks#text; D106)', () => {
    const text = String.raw`{"triggerEvent":"BOOKING_CREATED","payload":{"uid":"u-1","responses":{"notes":{"value":"x\u0000\ud83d"}},"n":1e99999}}`;
    const sent = ['utf8', 'utf16le', 'latin1'] as const;
    for (const encoding of sent) {
      const body = Buffer.from(text.replace('"x', '"\u00eb'), encoding);
      const signature = createHmac('sha256', 'secret').update(body).digest('hex');
      expect(classifyWebhook({ body, signature }, signed)).toMatchObject({ kind: 'booking', event: { uid: 'u-1' } });
    }
  });

  it('preserves line breaks of a cancellation reason and removes other control characters', () => {
    expect(read({ cancellationReason: 'ill\r\n\tsorry\u0007\u009b' }).cancellationReason).toBe('ill\r\n\tsorry');
  });

  it('reads booking times in any offset', () => {
    const event = read({ startTime: '2030-01-16T12:00:00+00:00' }, { createdAt: '2030-01-10T09:00:00.120Z' });
    expect([event.start, event.finish, event.createdAt]).toEqual([
      1_894_795_200_000_000n,
      undefined,
      1_894_266_000_120_000n,
    ]);
  });

  it.each([
    [{ startTime: 'next week' }, 'startTime cannot be read as a datetime.'],
    [{ startTime: '', endTime: 1_894_795_200 }, 'startTime and endTime cannot be read as a datetime.'],
    [{ startTime: '2030-01-16T12:00:00Z', endTime: {} }, 'endTime cannot be read as a datetime.'],
    [{ startTime: '2030-01-16T12:00:00Z', endTime: '2030-01-16T13:00:00+01:00' }, undefined],
    [{ startTime: null }, undefined],
    [{}, undefined],
  ])('reports invalid times of %j (D82)', (times, problem) => {
    expect(read(times).timesProblem).toBe(problem);
  });

  it('reads attendees with and without an email', () => {
    const attendees = [
      { name: 'A', email: ' a@example.org ' },
      { email: 'b@example.org' },
      { name: 'C', email: '' },
      {},
      'no person',
    ];
    expect(read({ attendees }).attendees.map(({ name, email }) => ({ name, email }))).toEqual([
      { name: 'A', email: 'a@example.org' },
      { name: 'b@example.org', email: 'b@example.org' },
      { name: 'C', email: null },
      { name: 'Guest', email: null },
    ]);
  });

  it.each([
    [{ email: '491511234567@sms.cal.com', phoneNumber: '+49 151 1234567' }, [null, '+49 151 1234567']],
    [{ email: 'X@SMS.CAL.COM ', phoneNumber: '+491511234567' }, [null, '+491511234567']],
    [{ email: 'x@sms.cal.com' }, [null, null]],
    [{ email: '491511234567@sms.cal.com' }, [null, '+491511234567']],
    [{ email: '491511234567@SMS.cal.com', phoneNumber: 'call me' }, [null, '+491511234567']],
    [{ email: 'x@sms.cal.com', phoneNumber: 'call me' }, [null, null]],
    [{ phoneNumber: '00491511234567' }, [null, '00491511234567']],
    [{ email: 'ada@example.org', phoneNumber: '+491511234567' }, ['ada@example.org', null]],
    [{ email: 'x@sms.cal.com.example.org', phoneNumber: '+491511234567' }, ['x@sms.cal.com.example.org', null]],
  ])('reads email and phone number of %j (D83)', (attendee, expected) => {
    const [{ email, phone } = { email: '', phone: '' }] = read({ attendees: [attendee] }).attendees;
    expect([email, phone]).toEqual(expected);
  });

  it('identifies an attendee by email, phone number or name, and distinguishes two attendees with the same name', () => {
    const keys = (...attendees: object[]) => read({ attendees }).attendees.map(({ key }) => key);
    expect(keys({ email: 'Ada@Example.org', name: 'Ada' })).toEqual(keys({ email: 'ada@example.org', name: 'A.' }));
    expect(keys({ email: '1@sms.cal.com', phoneNumber: '+49 (151) 123' })).toEqual(keys({ phoneNumber: '0049151123' }));
    expect(keys({ email: '4915112345@sms.cal.com' })).toEqual(
      keys({ email: '4915112345@sms.cal.com', phoneNumber: '+49 151 12345' }),
    );
    expect(
      new Set(keys({ name: 'Guest' }, { name: 'Guest' }, { name: 'guest ' }, { name: 'Other' })).size,
    ).toBeGreaterThan(2);
    expect(keys({ name: 'Guest' }, { name: 'Guest' })).toEqual(keys({ name: 'Guest' }, { name: 'Guest' }));
  });

  it.each([
    [{ seatsPerTimeSlot: 6 }, true],
    [{ seatsPerTimeSlot: '6' }, true],
    [{ attendeeSeatId: 'seat' }, true],
    [{ seatsPerTimeSlot: null }, false],
    [{}, undefined],
  ])('returns for %j whether the booking has seats: %s (D78)', (payload, hasSeats) => {
    const event = read(payload);
    expect(event.seatsUnspecified ? undefined : event.hasSeats).toBe(hasSeats);
  });
});

describe('matching of an event to bookings (D65, D79)', () => {
  const payload = { uid: 'b', rescheduleUid: 'a', bookingId: 502, rescheduleId: 501, iCalUID: 'c' };
  const numbers = ['id:502', 'id:501', 'ical:c'];
  const cancel = (fields: object, isSigned: boolean): readonly string[] => {
    const body = Buffer.from(JSON.stringify({ triggerEvent: 'BOOKING_CANCELLED', payload: fields }));
    const classification = classifyWebhook(
      { body, signature: createHmac('sha256', 'secret').update(body).digest('hex') },
      isSigned ? signed : unsigned,
    );
    return classification.kind === 'booking' ? [...classification.event.uids, ...classification.event.matchers] : [];
  };
  const none = { uid: undefined, rescheduleUid: undefined };

  it('matches by uid, and by booking number only when the event has no uid', () => {
    expect([read(payload).uids, read(payload).matchers]).toEqual([['uid:a', 'uid:b'], []]);
    expect(read({ ...payload, rescheduleUid: undefined }).matchers).toEqual([]);
    expect(read({ ...payload, ...none }).matchers).toEqual(numbers);
  });

  it('matches a cancellation by booking number only when it is signed and has no uid', () => {
    expect(cancel(payload, true)).toEqual(['uid:a', 'uid:b']);
    expect(cancel({ ...payload, ...none }, true)).toEqual(numbers);
    expect(cancel({ ...payload, ...none, uid: '' }, false)).toEqual([]);
  });

  it('returns the bookings of all uids in order of the uids, or only the bookings of the first known number', () => {
    const row = (id: number, identifier: string) => ({ id, identifier });
    const [a, b, c, d] = [row(1, 'uid:a'), row(2, 'uid:b'), row(3, 'id:502'), row(4, 'ical:c')];
    expect(chooseBookings(['uid:b', 'uid:a'], [a, b]).map(({ id }) => id)).toEqual([2, 1]);
    expect(chooseBookings(['uid:a', 'uid:z'], [a, row(1, 'uid:z')]).map(({ id }) => id)).toEqual([1]);
    expect(chooseNumbered(numbers, [d, c])).toEqual([c]);
    expect(chooseNumbered(numbers, [d, row(5, 'ical:c')])).toHaveLength(2);
    expect(chooseNumbered(numbers, [])).toEqual([]);
  });

  it('moves the attendees of a request who are in the requested booking, or were later (D79, D102)', () => {
    const asked = ['in', 'moved', 'gone', 'before', 'unanswered'];
    const request = { uid: 'b', formerUid: 'a', attendees: new Map(asked.map((key) => [key, 5n])) };
    const seat = (attendee: string, state: SeatState, at: bigint) => ({ attendee, personId: 1, state, at });
    const seats = [
      seat('in', 'in', 5n),
      seat('moved', 'moved', 7n),
      seat('gone', 'gone', 6n),
      seat('before', 'moved', 4n),
      seat('other', 'in', 9n),
    ];
    const left = (since?: bigint) =>
      findMovedGuests(request, seats, since).map(({ attendee, state, at }) => [attendee, state, at]);
    expect(left()).toEqual(['in', 'moved', 'gone'].map((key) => [key, 'moved', 5n]));
    expect(left(4n)).toHaveLength(3);
    expect(left(5n)).toHaveLength(asked.length);
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
  ])('reads from the URL %s the journey hints %j', (url, slugs, named) => {
    expect(readJourneyHint(url)).toEqual({ slugs, named });
  });

  it.each([null, '', '  ', 'http://'])('returns undefined for the unreadable URL %p', (url) => {
    expect(readJourneyHint(url)).toBeUndefined();
  });

  it('never throws for any URL', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (url) => void readJourneyHint(url)),
    );
    expect(readJourneyHint('https://[::1')).toBeUndefined();
  });
});

describe('mergeIds (D19a: later events add participants and never remove any)', () => {
  it('preserves the order of the first list and adds each new id once', () => {
    expect(mergeIds([3, 1], [1, 2, 2, 3])).toEqual([3, 1, 2]);
  });
});
