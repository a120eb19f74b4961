import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RequestOf } from '#libs/infrastructure/contract';
import { emailKey, phoneDigits } from '#libs/infrastructure/text';
import { directory } from '#services/directory';
import { startEditFixture, type EditFixture } from './edit-fixture.ts';

const { createPerson, listNotesOfHolon, listNotesOfPerson, resolveAttendees } = directory.rpcs;
type Request = RequestOf<typeof createPerson>;
/** Returns contact channels with arbitrary names. */
const channels = (values: Record<string, string>): NonNullable<Request['contact']> => values;

let fixture: EditFixture;
beforeAll(async () => (fixture = await startEditFixture(import.meta.url)));
afterAll(() => fixture.directory.stop());

const create = (request: Request) => fixture.directory.call(createPerson, request, fixture.editor);
const refusal = (request: Request, actor = fixture.editor) => fixture.directory.refusal(createPerson, request, actor);
const count = async (): Promise<number> =>
  Number(
    (await fixture.directory.env.sql<{ count: number }>('select count(*)::integer as count from directory.people'))[0]
      ?.count,
  );
const notesOf = async (owner: { person_id: number } | { holon_id: number }) =>
  (
    await ('person_id' in owner
      ? fixture.directory.call(listNotesOfPerson, owner)
      : fixture.directory.call(listNotesOfHolon, owner))
  ).items.map(({ body }) => body);

describe('people.create (rules/people#create-a-person; D43, D43a)', () => {
  it('creates a person with defaults for absent fields, trimmed texts and a sanitised description', async () => {
    const contact = { email: ' New@Example.org ', phone: ' ', website: null, __proto__: 'x' };
    const reply = await create({
      name: '  Ada ',
      description: '<p onclick="x">Hi <script>y</script></p>',
      contact,
      photo_url: 'https://a.org/a.png',
    });
    expect(reply).toEqual({
      person: {
        id: expect.any(Number),
        name: 'Ada',
        description: '<p>Hi </p>',
        photo_url: 'https://a.org/a.png',
        actor_kind: 'human',
        contact: { email: 'New@Example.org' },
      },
      membership: null,
      note: null,
    });
    await expect(fixture.directory.call(directory.rpcs.getPeople, { ids: [reply.person.id] })).resolves.toMatchObject({
      items: [{ name: 'Ada' }],
    });
  });

  it('treats a blank actor_kind as absent', async () => {
    expect((await create({ name: 'Blank kind', actor_kind: '   ' })).person.actor_kind).toBe('human');
  });

  it('accepts contact values without a URL scheme as text, including multi-line text (D72)', async () => {
    const contact = channels({ nick: '@ada', address: 'Street 1\nCity', phone: '+49 30 1', web: 'tel:+49301' });
    expect((await create({ name: 'Texts', contact })).person.contact).toEqual(contact);
    expect((await refusal({ name: 'X', contact: channels({ web: 'ftp://a.org' }) })).message).toBe(
      'contact.web must be a link with the scheme http, https, mailto or tel.',
    );
  });

  it('allows several people with the same name', async () => {
    const [first, second] = [await create({ name: 'Same' }), await create({ name: 'Same', actor_kind: 'agent' })];
    expect(first.person.id).not.toBe(second.person.id);
    expect(second.person.actor_kind).toBe('agent');
  });

  it("adds a membership at the first active step and the caller's note to the feeds of person and holon", async () => {
    const { summer = 0 } = fixture.holons;
    const membership = {
      holon_id: summer,
      journey_slug: 'joining',
      follow_up_after: '2026-07-01',
      responsible_person_id: fixture.people['hana'] ?? 0,
    };
    const reply = await create({ name: 'Bea', membership, note: '  Met at the lake.\n ' });
    expect(reply.membership).toMatchObject({
      membership_id: expect.any(Number),
      person: { id: reply.person.id, name: 'Bea' },
      holon: { id: summer, slug: 'summer' },
      journey_slug: 'joining',
      step_slug: 'asked',
      follow_up_after: '2026-07-01',
      responsible_person: { id: fixture.people['hana'] },
    });
    expect(reply.note).toMatchObject({
      body: 'Met at the lake.',
      note_type: 'note',
      author_person: { id: fixture.people['ed'] },
    });
    expect(await notesOf({ person_id: reply.person.id })).toEqual(['Met at the lake.']);
    expect(await notesOf({ holon_id: summer })).toContain('Met at the lake.');
  });

  it('adds a note without a membership to the person', async () => {
    const reply = await create({ name: 'Cy', note: 'Only Cy.' });
    expect(reply.membership).toBeNull();
    expect(await notesOf({ person_id: reply.person.id })).toEqual(['Only Cy.']);
    expect(await notesOf({ holon_id: fixture.holons['summer'] ?? 0 })).not.toContain('Only Cy.');
  });

  it('adds the membership at the step named in the request', async () => {
    const membership = { holon_id: fixture.holons['summer'] ?? 0, journey_slug: 'joining', step_slug: 'member' };
    expect((await create({ name: 'Di', membership })).membership).toMatchObject({ step_slug: 'member' });
  });

  it('requires global edit access to create a person; team authority does not suffice', async () => {
    const before = await count();
    for (const actor of [fixture.host, fixture.guest]) {
      expect(await fixture.directory.refusal(createPerson, { name: ' ' }, actor)).toMatchObject({
        code: 'permission_denied',
        reason: undefined,
      });
    }
    expect(await count()).toBe(before);
  });

  it('creates nothing if any field of the request is invalid', async () => {
    const before = await count();
    const [holon_id, journey_slug] = [fixture.holons['summer'] ?? 0, 'joining'];
    const bad: Partial<Request>[] = [
      { name: '  ' },
      { contact: { email: 'nobody' } },
      { contact: channels({ website: 'javascript:alert(1)' }) },
      { contact: channels({ website: 'java\nscript:alert(1)' }) },
      { contact: channels({ website: 'https://' }) },
      { contact: channels({ nick: 'a\u0007' }) },
      { photo_url: 'javascript:x' },
      { photo_url: 'mailto:a@b.org' },
      { photo_url: 'https://a.org/\u0085' },
      { note: ' ' },
      { membership: { holon_id: 999_999, journey_slug } },
      { membership: { holon_id: -1, journey_slug } },
      { membership: { holon_id: 3e9, journey_slug } },
      { membership: { holon_id, journey_slug: 'nowhere' } },
      { membership: { holon_id, journey_slug: 'other' } },
      { membership: { holon_id, journey_slug, step_slug: 'old' } },
      { membership: { holon_id, journey_slug, step_slug: 'one' } },
      { membership: { holon_id, journey_slug, follow_up_after: '2026-13-01' } },
      { membership: { holon_id, journey_slug, responsible_person_id: fixture.people['known'] ?? 0 } },
      { membership: { holon_id, journey_slug, responsible_person_id: 999_999 }, note: 'lost' },
    ];
    for (const change of bad)
      expect(await refusal({ name: 'Never', ...change })).toMatchObject({ code: 'bad_request', reason: undefined });
    expect(await count()).toBe(before);
    expect(await notesOf({ holon_id })).not.toContain('lost');
  });
});

describe('people.create, duplicates (D44)', () => {
  it('rejects a person with a stored email, ignoring case and surrounding whitespace, and lists all matching people', async () => {
    const error = await refusal({
      name: 'X',
      contact: { email: ' KNOWN@example.org', linkedin: 'linkedin.com/in/known' },
    });
    expect(error.toBody()).toEqual({
      code: 'conflict',
      reason: 'duplicate_person',
      message: expect.any(String),
      details: {
        match_field: 'contact.email',
        match_value: ' KNOWN@example.org',
        existing_person_ids: [fixture.people['known'], fixture.people['twin']].toSorted(
          (left, right) => Number(left) - Number(right),
        ),
      },
    });
  });

  it.each([
    'linkedin.com/in/known',
    'http://LinkedIn.com/in/known/',
    'https://www.linkedin.com/in/known?a=b',
    ' www.linkedin.com/in/known//#x ',
    'https://de.linkedin.com/in/known',
    'https://uk.m.linkedin.com:443/in/known/de',
    'https://www.linkedin.com/in/known/en-us/?trk=x',
    'linkedin.com./in//known/pt_BR',
    'linkedin.com/in/kno\u200bwn',
    'linkedin.com/in/%6Bnown',
    'https://www.linkedin.com/mwlite/in/known',
    'https://touch.www.linkedin.com/m/in/known/',
    'https://www.linkedin.com/in/known/overlay/contact-info/',
    'https://www.linkedin.com/in/known/details/experience/?x=1',
  ])('rejects a person with the stored LinkedIn profile, written as %s', async (linkedin) => {
    expect((await refusal({ name: 'X', contact: { email: 'free@example.org', linkedin } })).details).toEqual({
      match_field: 'contact.linkedin',
      match_value: linkedin,
      existing_person_ids: [fixture.people['known']],
    });
  });

  it.each([
    'linkedin.com/in/known2',
    'linkedin.com/in/know',
    'linkedin.com/company/known',
    'https://notlinkedin.com/in/known',
    'linkedin.com/in/known/details',
    'linkedin.com/in/known%2Fde',
    'linkedin.com/in/known%3Fa',
    'linkedin.com/mwlite/company/known',
  ])('creates a person with %s, which is not the stored LinkedIn profile', async (linkedin) => {
    await expect(create({ name: 'X', contact: { linkedin } })).resolves.toMatchObject({
      person: { contact: { linkedin } },
    });
  });

  it('treats a LinkedIn address and its percent-encoded form as equal', async () => {
    const { person } = await create({ name: 'Jörg', contact: { linkedin: 'https://www.linkedin.com/in/jörg-müller' } });
    for (const slug of [
      'j%C3%B6rg-m%C3%BCller',
      'j%c3%b6rg-m%c3%bcller/',
      'jo\u0308rg-mu\u0308ller',
      'jo%CC%88rg%2Dm%C3%9Cller/de?x=1',
    ])
      expect([
        slug,
        (await refusal({ name: 'X', contact: { linkedin: `https://www.linkedin.com/in/${slug}` } })).details,
      ]).toMatchObject([slug, { existing_person_ids: [person.id] }]);
    const encoded = await create({ name: 'Zoë', contact: { linkedin: 'linkedin.com/in/zo%C3%AB-%F0%9F%98%80' } });
    expect((await refusal({ name: 'X', contact: { linkedin: 'linkedin.com/in/zoë-😀' } })).details).toMatchObject({
      existing_person_ids: [encoded.person.id],
    });
  });

  it.each([
    '‹jörg@example.org>',
    '<jörg@example.org>',
    'Jörg<jörg@example.org>',
    'Jörg <jörg@example.org>',
    'a@x.org,b',
    'a@x.org;',
    '(a)b@x.org',
  ])('rejects an email with a name or brackets: %s', async (email) => {
    expect((await refusal({ name: 'X', contact: { email } })).message).toBe('contact.email must be an email address.');
  });

  it.each([
    ['mailto:ren%C3%A9e.m%c3%bcller@b%C3%BCcher.example', 'renée.müller@xn--bcher-kva.example'],
    ['mailto:rene%CC%81e%40example.org?subject=a%40b', 'renée@example.org'],
    ['mailto:%20a%2Bb@Example.org%E2%80%8B', 'a+b@example.org'],
    ['mailto:a%FF%C3%A9%C3@x.org', 'a%ffé%c3@x.org'],
    ['mailto:a%E2%82%AC%ED%A0%80%F0%9F%98%80%2F%00%7F@x.org', 'a€%ed%a0%80😀%2f%00%7f@x.org'],
    ['a%40b@x.org', 'a%40b@x.org'],
    ['Renée.Müller@Bücher.Example', 'renée.müller@xn--bcher-kva.example'],
    ['rene\u0301e.mu\u0308ller@bu\u0308cher.example', 'renée.müller@xn--bcher-kva.example'],
    ['renée.müller@XN--BCHER-KVA.example.', 'renée.müller@xn--bcher-kva.example'],
    ['mailto:renée.müller@bücher.example?subject=Hi', 'renée.müller@xn--bcher-kva.example'],
    ['MAILTO: renée.müller@bücher.example..', 'renée.müller@xn--bcher-kva.example'],
    ['\u200brenée.mül\u00adler@bücher\u2060.example\ufeff', 'renée.müller@xn--bcher-kva.example'],
    ['renée.müller@bücher。example', 'renée.müller@xn--bcher-kva.example'],
    ['a@日本語.例え.jp', 'a@xn--wgv71a119e.xn--r8jz45g.jp'],
    ['a@straße.de', 'a@xn--strae-oqa.de'],
    ['a@пример.испытание', 'a@xn--e1afmkfd.xn--80akhbyknj4f'],
    ['"b@c"@Example.org', '"b@c"@example.org'],
    ['nobody', 'nobody'],
    ['@', '@'],
    [' \u200b ', ''],
  ])('compares the email %j as %j, both in the process and in the database', async (email, key) => {
    const [row] = await fixture.directory.env.sql<{ key: string }>(
      `select coalesce(directory.email_key($1), '') as key`,
      [email],
    );
    expect([emailKey(email), row?.key]).toEqual([key, key]);
  });

  it.each([
    ['+49 (0)30 123 45', '493012345'],
    ['0049-30/12345', '493012345'],
    ['030 12345', '03012345'],
    ['(0)', ''],
    ['none', ''],
    ['٠١٢٣٤٥', ''],
    ['1'.repeat(60), '1'.repeat(50)],
  ])('compares the phone number %j as %j, both in the process and in the database', async (phone, digits) => {
    const [row] = await fixture.directory.env.sql<{ digits: string }>(
      `select coalesce(directory.phone_digits($1), '') as digits`,
      [phone],
    );
    expect([phoneDigits(phone), row?.digits]).toEqual([digits, digits]);
  });

  it('finds a person by every spelling of the same email (D44, D87)', async () => {
    const { person } = await create({ name: 'Renée', contact: { email: 'mailto:Renée@Bücher.example.' } });
    for (const email of ['rene\u0301e@xn--bcher-kva.example', 'RENÉE@bücher.example', 'renée\u200b@bücher.example..'])
      expect((await refusal({ name: 'X', contact: { email } })).details).toMatchObject({
        existing_person_ids: [person.id],
      });
    const attendees = [{ name: 'R', email: 'renée@xn--bcher-kva.example' }];
    expect(await fixture.directory.call(resolveAttendees, { attendees, create: false, key: 'k' })).toEqual({
      person_ids: [person.id],
    });
    const twin = { name: 'Twin', email: 'TWIN@exämple.org' };
    const both = await fixture.directory.call(resolveAttendees, {
      attendees: [twin, { ...twin, email: 'mailto:twin@xn--exmple-cua.org' }],
      create: true,
      key: 'k',
    });
    expect(both.person_ids[0]).toBe(both.person_ids[1]);
  });

  it('creates one person for 50 concurrent calls with the same email, one of them by a booking', async () => {
    const calls = Array.from({ length: 49 }, (_, index) =>
      create({
        name: `P${index}`,
        contact: {
          email: index % 2 === 0 ? 'race@example.org' : 'RACE@example.org ',
          linkedin: `linkedin.com/in/r${index}`,
        },
      }),
    );
    const booking = fixture.directory.call(resolveAttendees, {
      attendees: [{ name: 'B', email: 'race@example.org' }],
      create: true,
      key: 'race',
    });
    const results = await Promise.allSettled([...calls, booking]);
    const people = await fixture.directory.env.sql<{ id: number }>(
      `select id from directory.people where lower(btrim(contact ->> 'email')) = 'race@example.org'`,
    );
    expect(people).toHaveLength(1);
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(refused.length).toBeGreaterThanOrEqual(48);
    for (const error of refused)
      expect(error).toMatchObject({ reason: 'duplicate_person', details: { existing_person_ids: [people[0]?.id] } });
  });

  it('creates one person for concurrent calls with the same LinkedIn address', async () => {
    const calls = Array.from({ length: 20 }, (_, index) =>
      create({
        name: 'L',
        contact: {
          email: `l${index}@example.org`,
          linkedin: index % 2 === 0 ? 'linkedin.com/in/one' : 'https://www.linkedin.com/in/one/',
        },
      }),
    );
    const results = await Promise.allSettled(calls);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});
