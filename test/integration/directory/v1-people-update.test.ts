/** Updates of people over HTTP: rights, merged contact data, duplicates, If-Match, history and events (W1). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Actor, RequestOf } from '#libs/infrastructure/contract';
import { startService, waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { erase, serveErasures } from './erase.ts';
import { createFeedReader, type FeedReader } from '../events/reader.ts';
import { type EditFixture, startEditFixture } from './edit-fixture.ts';

const { createPerson, getPerson, listHistory, mergePerson, resolveAttendees, updatePerson } = directory.rpcs;
type Request = Omit<RequestOf<typeof updatePerson>, 'person_id'>;

let fixture: EditFixture;
let superuser: Actor;
let feed: FeedReader;
let ada: number;
beforeAll(async () => {
  fixture = await startEditFixture(import.meta.url);
  await startService('conversations', fixture.directory.env);
  await startService('events', fixture.directory.env);
  feed = createFeedReader(fixture.directory.bus);
  superuser = { ...(fixture.editor as Extract<Actor, { kind: 'user' }>), superuser: true };
});
afterAll(() => fixture.directory.stop());

const channels = (values: Record<string, string | null>): NonNullable<Request['contact']> => values;
const create = async (name: string, contact: Record<string, string> = {}): Promise<number> =>
  (await fixture.directory.call(createPerson, { name, contact: channels(contact) }, fixture.editor)).person.id;
const update = (id: number, request: Request, actor = fixture.editor) =>
  fixture.directory.call(updatePerson, { person_id: id, ...request }, actor);
const refusal = (id: number, request: Request, actor = fixture.editor) =>
  fixture.directory.refusal(updatePerson, { person_id: id, ...request }, actor);
const historyOf = async (id: number) =>
  (await fixture.directory.call(listHistory, { kind: 'people', id: String(id) }, superuser)).items;

describe('people.update (rules/people#update-a-person; W1)', () => {
  it('changes the given fields, merges contact per channel, and reports contact whole', async () => {
    ada = await create('Ada', { email: 'ada@example.org', phone: '+49 30 1' });
    const contact = channels({ phone: null, website: ' https://ada.example.org ', blank: '' });
    const photo = 'https://a.org/a.png';
    expect(
      await update(ada, { name: ' Ada O ', description: '<p onclick="x">Hi</p>', photo_url: photo, contact }),
    ).toEqual({
      person: {
        id: ada,
        name: 'Ada O',
        description: '<p>Hi</p>',
        photo_url: photo,
        actor_kind: 'human',
        contact: { email: 'ada@example.org', website: 'https://ada.example.org' },
      },
      changes: {
        name: { old: 'Ada', new: 'Ada O' },
        description: { old: '', new: '<p>Hi</p>' },
        photo_url: { old: null, new: photo },
        contact: {
          old: { email: 'ada@example.org', phone: '+49 30 1' },
          new: { email: 'ada@example.org', website: 'https://ada.example.org' },
        },
      },
    });
    const cleared = await update(ada, { photo_url: null, description: '' });
    expect(cleared.person).toMatchObject({ photo_url: null, description: '' });
    expect(Object.keys(cleared.changes)).toEqual(['description', 'photo_url']);
  });

  it('writes history and one event for a change, and none without a difference', async () => {
    const id = await create('Quiet');
    await update(id, { name: 'Loud' });
    expect((await update(id, { name: 'Loud', contact: channels({ phone: null }) })).changes).toEqual({});
    expect((await historyOf(id)).map(({ changes, via }) => [via, changes['name']])).toEqual([
      ['api', { old: 'Quiet', new: 'Loud' }],
      ['api', { old: null, new: 'Quiet' }],
    ]);
    const last = await create('The last one');
    const events = await waitFor(async () => {
      const items = (await feed.read({ subject_type: 'person', limit: 100 })).items;
      return items.some(({ subject }) => subject.id === last) ? items : undefined;
    });
    expect(events.filter(({ subject }) => subject.id === id).map(({ type }) => type)).toEqual([
      'person.created',
      'person.updated',
    ]);
  });

  it('is allowed for the own person, and denied for others; unknown people are not found', async () => {
    const own = fixture.people['gus'] ?? 0;
    expect((await update(own, { name: 'Gus G' }, fixture.guest)).person.name).toBe('Gus G');
    expect(await refusal(ada, { name: 'X' }, fixture.guest)).toMatchObject({ code: 'permission_denied' });
    expect(await refusal(ada, { name: 'X' }, fixture.host)).toMatchObject({ code: 'permission_denied' });
    for (const id of [999_999, 0, 99_999_999_999])
      expect(await refusal(id, { name: 'X' }, fixture.guest)).toMatchObject({ code: 'not_found' });
  });

  it('lets only superusers change the Telegram user, by which chats are found', async () => {
    const own = fixture.people['gus'] ?? 0;
    const contact = channels({ telegram_user_id: '7007' });
    expect(await refusal(own, { contact }, fixture.guest)).toMatchObject({ code: 'permission_denied' });
    expect(await refusal(own, { contact })).toMatchObject({ code: 'permission_denied' });
    expect((await update(own, { contact }, superuser)).person.contact).toMatchObject(contact);
    expect((await update(own, { contact }, fixture.guest)).changes).toEqual({});
    expect(await refusal(own, { contact: channels({ telegram_user_id: null }) }, fixture.guest)).toMatchObject({
      code: 'permission_denied',
    });
  });

  it.each([
    [{ name: ' ' }, 'name must not be blank.'],
    [{ photo_url: 'ftp://a.org' }, 'photo_url must be an http or https address.'],
    [{ contact: { email: 'x' } }, 'contact.email must be an email address.'],
    [{ contact: channels({ web: 'javascript:x' }) }, 'contact.web must be a link with the scheme'],
  ])('rejects invalid values and changes nothing: %j', async (request, message) => {
    const before = await fixture.directory.call(getPerson, { person_id: ada }, fixture.editor);
    expect(await refusal(ada, { description: 'x', ...request })).toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(message),
    });
    expect(await fixture.directory.call(getPerson, { person_id: ada }, fixture.editor)).toEqual(before);
  });

  it('stores at most 50 channels', async () => {
    const many = (from: number, to: number) =>
      Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`channel ${from + index}`, 'x']));
    const id = await create('Many', many(0, 50));
    expect(await refusal(id, { contact: channels({ more: 'x' }) })).toMatchObject({ code: 'bad_request' });
    expect((await update(id, { contact: channels({ 'channel 0': null, more: 'x' }) })).changes).toHaveProperty(
      'contact',
    );
  });

  it('rejects an address of another person as D44, also under concurrency, and allows the own one', async () => {
    const [first, second] = [await create('First'), await create('Second')];
    const given = { contact: { email: ' KNOWN@example.org' } };
    expect(await refusal(first, given)).toMatchObject({
      code: 'conflict',
      reason: 'duplicate_person',
      details: {
        match_field: 'contact.email',
        match_value: ' KNOWN@example.org',
        existing_person_ids: [fixture.people['known'], fixture.people['twin']],
      },
    });
    const both = await Promise.allSettled(
      [first, second].map((id) => update(id, { contact: { email: 'race@example.org' } })),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const winner = both[0]?.status === 'fulfilled' ? first : second;
    expect((await update(winner, { contact: { email: 'RACE@example.org' } })).person.contact).toEqual({
      email: 'RACE@example.org',
    });
  });

  it('checks If-Match under the lock, and returns the tag of the stored person', async () => {
    const id = await create('Tagged');
    expect(await refusal(id, { name: 'X', if_match: '"other"' })).toMatchObject({ code: 'precondition_failed' });
    expect(await refusal(id, { name: ' ', if_match: '"other"' })).toMatchObject({ code: 'precondition_failed' });
    expect((await update(id, { name: 'Y', if_match: '*' })).person.name).toBe('Y');
  });
});

describe('history of people in other operations (W10)', () => {
  it('is removed with the person, with the history of own memberships and accounts', async () => {
    await serveErasures(fixture.directory, { running: ['conversations', 'events'] });
    const { summer = 0 } = fixture.holons;
    const { person, membership } = await fixture.directory.call(
      createPerson,
      { name: 'Herons forever', membership: { holon_id: summer, journey_slug: 'joining' } },
      fixture.editor,
    );
    await fixture.directory.apply({
      accounts: [{ email: 'herons@example.org', person: 'hana' }],
    });
    await fixture.directory.env.sql('update directory.accounts set person_id = $1 where email = $2', [
      person.id,
      'herons@example.org',
    ]);
    await erase(fixture.directory, person.id);
    const left = await fixture.directory.env.sql(
      `select object_kind from directory.history
       where (object_kind = 'people' and object_id = $1) or (object_kind = 'memberships' and object_id = $2)
         or changes::text like '%Herons%' or changes::text like '%herons@example.org%' or object_key = 'herons@example.org'`,
      [person.id, membership?.membership_id ?? 0],
    );
    expect(left).toEqual([]);
  });

  it('records people of a booking as a change by a webhook', async () => {
    const attendees = [{ name: 'Booked', email: 'booked@example.org' }];
    const { person_ids: ids } = await fixture.directory.call(resolveAttendees, { attendees, create: true, key: 'k' });
    expect(await historyOf(ids[0] ?? 0)).toMatchObject([
      { via: 'webhook', actor: null, changes: { name: { old: null, new: 'Booked' } } },
    ]);
  });

  it('moves the history of a merged person to the surviving one', async () => {
    const [keep, gone] = [await create('Keep'), await create('Gone', { phone: '+49 30 77' })];
    await update(gone, { name: 'Going' });
    await fixture.directory.call(mergePerson, { person_id: gone, into: keep }, superuser);
    const items = await historyOf(keep);
    expect(
      items.map(({ changes }) => (changes['name'] as { new: unknown } | undefined)?.new ?? changes['contact']),
    ).toEqual([{ old: {}, new: { phone: '+49 30 77' } }, 'Going', 'Gone', 'Keep']);
  });
});
