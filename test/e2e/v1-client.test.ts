/**
 * The generated client on `/api/v1/`: calls every operation of the route table once, like an external system
 * (clients/typescript).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { type ApiError, type Client, isErrorOf, type OperationErrors } from '../../clients/typescript/index.ts';
import { v1Routes } from '../../services/api-gateway/routes/v1/index.ts';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let client: Client;
/** The client of a superuser. */
let root: Client;
let ids: Record<string, Record<string, number>>;
const used = new Set<string>();
const idOf = (list: string, key: string): number => ids[list]?.[key] ?? 0;

const steps = [
  { slug: 'asked', title: 'Asked' },
  { slug: 'joined', title: 'Joined' },
];
const document = {
  classes: [
    { slug: 'camp', label: 'Camp', journeys: ['joining'], allowed_children: ['workshop'] },
    { slug: 'experience', label: 'Experience' },
    { slug: 'workshop', label: 'Workshop', parent: 'experience' },
  ],
  journeys: ['joining', 'hosting'].map((slug) => ({ slug, name: slug, bulk_add: true, steps })),
  people: [
    { key: 'ed', name: 'Ed Editor', contact: { email: 'ed@example.org' } },
    { key: 'hana', name: 'Hana Host' },
    { key: 'root', name: 'Ruth Root' },
  ],
  accounts: [
    {
      email: 'ed@example.org',
      person: 'ed',
      password: 'secret-of-ed',
      global_editor: true,
      groups: ['workspace_editors'],
    },
    { email: 'root@example.org', person: 'root', password: 'secret-of-root', superuser: true },
  ],
  holons: [
    { slug: 'summer', name: 'Summer camp', class: 'camp' },
    { slug: 'winter', name: 'Winter camp', class: 'camp', parent: 'summer' },
  ],
  memberships: [{ key: 'hana', person: 'hana', holon: 'summer', journey: 'joining', step: 'asked' }],
  relationships: [{ key: 'near', from: 'summer', to: 'winter', journey: 'hosting', step: 'asked' }],
};

beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['directory', 'conversations', 'transcripts', 'media', 'agents', 'api-gateway', 'events'] },
  );
  ({ ids } = await platform.apply(document));
  client = await login('ed');
  root = await login('root');
});
afterAll(() => platform.stop());

/** Returns a client of the account that records the names of the operations that it calls. */
async function login(name: string): Promise<Client> {
  const body = { email: `${name}@example.org`, password: `secret-of-${name}` };
  const { token } = (await platform.client.login({ body })).body;
  return new Proxy(platform.client.withToken(token), {
    get: (target, operation: keyof Client) => {
      used.add(operation);
      return target[operation];
    },
  });
}

/** Returns the error with which the operation rejects the call, typed by the error's name. */
async function refusalOf<Name extends keyof OperationErrors>(
  name: Name,
  work: Promise<unknown>,
): Promise<ApiError & OperationErrors[Name]> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isErrorOf(error, name)) throw new Error(`${name} was not refused`, { cause: error });
  return error;
}

describe('reads with the client (rules/memberships#lists)', () => {
  it('find people and holons with the client', async () => {
    const { body: found } = await client.searchDirectory({ query: { q: 'camp', types: ['holon'] } });
    expect(found.items.map((item) => (item.kind === 'holon' ? item.holon.slug : item.person.name))).toEqual([
      'summer',
      'winter',
    ]);
    expect(
      (await client.listPeople({ query: { q: 'ed', sort: 'latest' } })).body.items.map(({ name }) => name),
    ).toEqual(['Ed Editor']);
    expect((await client.getPerson({ path: { person_id: idOf('people', 'hana') } })).body.name).toBe('Hana Host');
    expect((await client.listHolons({ query: { class: 'camp', parent: idOf('holons', 'summer') } })).body.count).toBe(
      1,
    );
    const bySlug = await client.getHolonBySlug({ path: { slug: 'winter' } });
    expect((await client.getHolon({ path: { holon_id: idOf('holons', 'winter') } })).body).toEqual(bySlug.body);
    const headers = { 'If-None-Match': bySlug.headers.get('etag') ?? '' };
    expect((await client.getHolonBySlug({ path: { slug: 'winter' }, headers })).status).toBe(304);
  });

  it('return classes and journeys with the client', async () => {
    const { body: classes } = await client.listClasses({ query: { object_kind: 'holon' } });
    expect(classes.find(({ slug }) => slug === 'camp')?.journeys.map(({ slug }) => slug)).toEqual(['joining']);
    expect((await client.getClass({ path: { object_kind: 'holon', slug: 'workshop' } })).body.label).toBe('Workshop');
    expect(
      (await client.listJourneys({ query: { q: 'join', is_conversation: false } })).body.items[0]?.usage
        .membership_count,
    ).toBe(1);
    const { body: journey } = await client.getJourney({ path: { slug: 'joining' } });
    expect(journey.steps.map(({ slug, order }) => [slug, order])).toEqual(
      steps.map(({ slug }, index) => [slug, index]),
    );
  });

  it('list memberships, relationships, notes and worklists with the client', async () => {
    const [person, holon] = [{ person_id: idOf('people', 'hana') }, { holon_id: idOf('holons', 'summer') }];
    const { body: own } = await client.listPersonMemberships({ path: person });
    const { body: members } = await client.listHolonMemberships({
      path: holon,
      query: { follow_up: 'none', sort: '-name' },
    });
    expect([own.items[0]?.holon.slug, members.items[0]?.person.name, members.has_more]).toEqual([
      'summer',
      'Hana Host',
      false,
    ]);
    expect((await client.listHolonRelationships({ path: holon })).body.items[0]?.to_holon.slug).toBe('winter');
    expect((await client.listNotesOfPerson({ path: person })).body.items).toEqual([]);
    expect((await client.listNotesOfHolon({ path: holon, query: { limit: 1 } })).body.limit).toBe(1);
    const { body: work } = await client.listResponsible({ query: { type: ['person', 'camp'] } });
    expect(work.items.map((item) => (item.kind === 'person' ? item.person.name : item.to_holon.slug))).toEqual([
      'Hana Host',
      'winter',
    ]);
  });
});

describe('writes with the client (rules/memberships#lists)', () => {
  it('create a person, and return the existing person with the same address', async () => {
    const contact = { email: 'new@example.org', phone: '+49 30 5550100' };
    const membership = { holon_id: idOf('holons', 'summer'), journey_slug: 'joining' };
    const { status, body } = await client.createPerson({ body: { name: 'New', contact, membership, note: 'Met.' } });
    expect([status, body.membership?.step_slug, body.note?.body]).toEqual([201, 'asked', 'Met.']);
    const refused = await refusalOf('createPerson', client.createPerson({ body: { name: 'Twin', contact } }));
    if (refused.status !== 409) throw new Error(`unexpected status ${refused.status}`);
    expect([refused.body.match_field, refused.body.existing_person_ids]).toEqual(['contact.email', [body.person.id]]);
  });

  it('edit a holon, add people in bulk, and move memberships with the client', async () => {
    const path = { holon_id: idOf('holons', 'winter') };
    const { body: edited } = await client.updateHolon({
      path,
      body: { locations: ['de'], journey_ids: [idOf('journeys', 'hosting')] },
    });
    expect(Object.keys(edited.changes).toSorted()).toEqual(['journey_ids', 'locations']);
    const memberships = [{ person_id: idOf('people', 'hana') }, { person_id: 2_147_483_647 }];
    const { body: added } = await client.bulkAddMemberships({ path, body: { memberships, journey_slug: 'joining' } });
    expect(added.items.map(({ outcome }) => outcome)).toEqual(['created', 'person_not_found']);
    const moved = await client.updateMembership({
      path: { membership_id: added.items[0]?.membership_id ?? 0 },
      body: { note: 'Welcome.', advance_step: true, follow_up_after: '2026-05-01' },
    });
    expect(moved.body.changes).toEqual({
      current_step: { old: 'asked', new: 'joined' },
      follow_up_after: { old: null, new: '2026-05-01' },
    });
    const near = { relationship_id: idOf('relationships', 'near') };
    const { body } = await client.updateRelationship({ path: near, body: { note: 'Agreed.', step_slug: 'joined' } });
    expect(body.relationship.step_title).toBe('Joined');
    const refused = await refusalOf(
      'updateRelationship',
      client.updateRelationship({ path: near, body: { note: ' ' } }),
    );
    expect([refused.status, 'code' in refused.body && refused.body.code]).toEqual([400, 'validation_error']);
  });

  it('create an experience with a logo', async () => {
    const parent = { parent_id: idOf('holons', 'summer'), name: 'Night walk', description: '<p>Dark.</p>' };
    const { experience } = (await client.createExperience({ body: parent })).body;
    const picture = await sharp({ create: { width: 4, height: 4, channels: 3, background: '#204060' } })
      .png()
      .toBuffer();
    const file = { name: 'logo.png', content: new Uint8Array(picture) };
    const { body } = await client.uploadExperienceLogo({ path: { experience_id: experience.id }, file });
    expect([experience.type, body.experience.logo_url]).toEqual(['workshop', expect.any(String)]);
    const text = { name: 'logo.png', content: new Blob(['no picture']) };
    const refused = await refusalOf(
      'uploadExperienceLogo',
      client.uploadExperienceLogo({ path: { experience_id: experience.id }, file: text }),
    );
    expect(refused.status).toBe(400);
  });

  it('create, rotate and revoke service keys with the client', async () => {
    const { body: made } = await client.createKey({ body: { name: 'A program', scopes: ['directory:read'] } });
    const path = { key_id: made.key.id };
    expect((await client.listKeys()).body.items.map(({ id }) => id)).toEqual([path.key_id]);
    expect((await client.rotateKey({ path })).body.token).not.toBe(made.token);
    const { key, webhook_endpoints: endpoints } = (await client.revokeKey({ path })).body;
    const shown = await client.getKey({ path });
    expect([{ key }, endpoints]).toEqual([shown.body, []]);
    const headers = { 'If-None-Match': shown.headers.get('etag') ?? '' };
    expect((await client.getKey({ path, headers })).status).toBe(304);
  });

  it('merge people if the caller is a superuser', async () => {
    const path = { person_id: idOf('people', 'hana') };
    const refused = await refusalOf('mergePerson', client.mergePerson({ path, body: { into: idOf('people', 'ed') } }));
    expect([refused.status, 'code' in refused.body && refused.body.code]).toEqual([403, 'permission_denied']);
  });

  it('set up a class and a journey with its steps and questions', async () => {
    const { journey } = (await client.createJourney({ body: { slug: 'set-up', name: 'Set-up' } })).body;
    const path = { slug: journey.slug };
    await client.createClass({ body: { slug: 'set-up', journeys: ['set-up'] } });
    const classPath = { object_kind: 'holon', slug: 'set-up' };
    const updated = await client.updateClass({ path: classPath, body: { label: 'Set up', journeys: [] } });
    expect(updated.body.changes['journeys']).toEqual({ old: ['set-up'], new: [] });
    expect((await client.updateJourney({ path, body: { name: 'New' } })).body.journey.name).toBe('New');
    const { step } = (await client.createStep({ path, body: { slug: 'one', title: 'One' } })).body;
    const stepPath = { ...path, step_slug: step.slug };
    expect((await client.updateStep({ path: stepPath, body: { title: 'Two' } })).body.step.title).toBe('Two');
    expect((await client.deleteStep({ path: stepPath })).status).toBe(204);
    const { question } = (await client.createQuestion({ path, body: { text: 'Why?' } })).body;
    const archived = await client.updateQuestion({
      path: { ...path, question_id: question.id },
      body: { is_archived: true },
    });
    expect((await client.listQuestions({ path })).body.items).toEqual([archived.body.question]);
    expect((await client.listJourneyHistory({ path: { id: 'set-up' } })).body.items).toHaveLength(7);
    expect((await client.listClassHistory({ path: classPath })).body.items).toHaveLength(2);
    expect((await client.deleteClass({ path: classPath })).status).toBe(204);
    const refused = await refusalOf('deleteJourney', client.deleteJourney({ path: { slug: 'joining' } }));
    expect([refused.status, 'code' in refused.body && refused.body.code]).toEqual([409, 'in_use']);
    expect((await client.deleteJourney({ path })).status).toBe(204);
  });
});

describe('objects created, changed and deleted with the client (W1 to W7)', () => {
  it('create a holon with a member and a relationship, and delete them', async () => {
    const { holon } = (await client.createHolon({ body: { name: 'Autumn camp', class: 'camp' } })).body;
    const path = { holon_id: holon.id };
    const { membership } = (
      await client.createMembership({
        body: { person_id: idOf('people', 'hana'), holon_id: holon.id, journey_slug: 'joining' },
      })
    ).body;
    const { relationship } = (
      await client.createRelationship({ body: { from_holon_id: holon.id, to_holon_id: idOf('holons', 'winter') } })
    ).body;
    expect([holon.slug, membership.person.name, relationship.to_holon.slug]).toEqual([
      'autumn-camp',
      'Hana Host',
      'winter',
    ]);
    const refused = await refusalOf('deleteHolon', client.deleteHolon({ path }));
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { code: 'in_use', counts: { children: 0, memberships: 1, relationships: 1, conversations: 0 } },
    ]);
    const histories = await Promise.all([
      client.listHolonHistory({ path: { id: holon.id } }),
      client.listMembershipHistory({ path: { id: membership.membership_id } }),
      client.listRelationshipHistory({ path: { id: relationship.relationship_id } }),
    ]);
    expect(histories.map(({ body }) => body.items.map(({ actor, via }) => [actor?.name, via]))).toEqual(
      histories.map(() => [['Ed Editor', 'api']]),
    );
    expect((await client.deleteMembership({ path: { membership_id: membership.membership_id } })).status).toBe(204);
    expect((await client.deleteRelationship({ path: { relationship_id: relationship.relationship_id } })).status).toBe(
      204,
    );
    expect((await client.deleteHolon({ path })).status).toBe(204);
    expect((await refusalOf('getHolon', client.getHolon({ path }))).status).toBe(404);
  });

  it('add, edit and delete notes with the client', async () => {
    const [person, holon] = [{ person_id: idOf('people', 'hana') }, { holon_id: idOf('holons', 'summer') }];
    const { note } = (await client.createPersonNote({ path: person, body: { body: 'Called.' } })).body;
    const { note: plan } = (await client.createHolonNote({ path: holon, body: { body: 'Plan.' } })).body;
    const edited = await client.updateNote({ path: { note_id: note.id }, body: { body: 'Called twice.' } });
    expect(edited.body.note.body).toBe('Called twice.');
    const listed = await client.listNotesOfPerson({ path: person });
    expect(listed.body.items.map(({ body }) => body)).toContain('Called twice.');
    for (const { id } of [note, plan]) expect((await client.deleteNote({ path: { note_id: id } })).status).toBe(204);
    const { body } = await client.listNotesOfHolon({ path: holon });
    expect(body.items.map(({ body: text }) => text)).not.toContain('Plan.');
  });

  it('change a person and list the changes', async () => {
    const id = idOf('people', 'hana');
    const { body } = await client.updatePerson({ path: { person_id: id }, body: { description: 'Hosts.' } });
    expect(body.changes).toEqual({ description: { old: '', new: 'Hosts.' } });
    expect((await client.listPersonHistory({ path: { id } })).body.items[0]?.changes).toEqual(body.changes);
  });

  it('create and retire a sphere with the client', async () => {
    const { sphere } = (await client.createSphere({ body: { name: 'Water' } })).body;
    expect((await client.listSpheres()).body.items).toEqual([sphere]);
    const path = { sphere_id: sphere.id };
    const retired = await client.updateSphere({ path, body: { is_active: false } });
    expect(retired.body.changes).toEqual({ is_active: { old: true, new: false } });
    expect((await client.listSpheres()).body.items).toEqual([]);
    expect((await client.listSpheres({ query: { include_inactive: true } })).body.items).toEqual([retired.body.sphere]);
  });

  it('create, change and delete an agent with the client', async () => {
    const path = { slug: 'camp-guide' };
    await client.createAgent({ body: { ...path, name: 'Camp guide', prompt: 'Answer shortly.' } });
    const shown = await client.getWorkspaceAgent({ path });
    const headers = { 'If-None-Match': shown.headers.get('etag') ?? '' };
    expect((await client.getWorkspaceAgent({ path, headers })).status).toBe(304);
    const { body } = await client.updateAgent({ path, body: { name: 'Guide' } });
    expect(body.changes).toEqual({ name: { old: 'Camp guide', new: 'Guide' } });
    const { items } = (await client.listWorkspaceAgents({ query: { q: 'guide' } })).body;
    expect(items.map(({ slug, name }) => [slug, name])).toEqual([['camp-guide', 'Guide']]);
    const history = await client.listAgentHistory({ path: { id: path.slug } });
    expect(history.body.items.map(({ via }) => via)).toEqual(['api', 'api']);
    expect((await client.deleteAgent({ path })).status).toBe(204);
    expect((await refusalOf('getWorkspaceAgent', client.getWorkspaceAgent({ path }))).status).toBe(404);
  });

  it('invite an account and change its rights if the caller is a superuser', async () => {
    const { account, invitation } = (await root.createAccount({ body: { email: 'new-account@example.org' } })).body;
    const path = { account_id: account.id };
    expect(invitation.url).toMatch(/\/console\/invitation/);
    expect((await root.listAccounts({ query: { q: 'new-account' } })).body.items).toEqual([account]);
    const { body } = await root.updateAccount({ path, body: { groups: ['chat_agents'] } });
    expect([body.changes, (await root.getAccount({ path })).body.account]).toEqual([
      { groups: { old: [], new: ['chat_agents'] } },
      body.account,
    ]);
    const reset = await root.resetAccountPassword({ path });
    expect(reset.body.invitation.token).not.toBe(invitation.token);
    const history = await root.listAccountHistory({ path: { id: account.id }, query: { limit: 1 } });
    expect([history.body.items.length, history.body.next]).toEqual([1, expect.any(String)]);
    const identity = { issuer: 'https://id.example.org', subject: 'new-account' };
    expect((await root.linkAccountIdentity({ path, body: identity })).body).toMatchObject({
      ...identity,
      changed: true,
    });
    expect((await root.listAccountIdentities({ path })).body.items).toMatchObject([identity]);
    expect((await root.unlinkAccountIdentity({ path, body: identity })).body.changed).toBe(true);
    expect((await root.deleteAccount({ path })).status).toBe(204);
    expect((await refusalOf('getAccount', root.getAccount({ path }))).status).toBe(404);
    const refused = await refusalOf('listAccounts', client.listAccounts());
    expect(refused.status).toBe(403);
  });

  it('export and erase a person if the caller is a superuser', async () => {
    const { person } = (await client.createPerson({ body: { name: 'Gone Soon' } })).body;
    const path = { person_id: person.id };
    const exported = await root.exportPerson({ path });
    expect(exported.body.person).toEqual([expect.objectContaining({ id: person.id, name: 'Gone Soon' })]);
    const headers = { 'If-None-Match': exported.headers.get('etag') ?? '' };
    expect((await root.exportPerson({ path, headers })).status).toBe(304);
    const preview = await root.erasePerson({ path, body: { confirm: 'Gone Soon', dry_run: true } });
    expect([preview.status, preview.body]).toMatchObject([200, { counts: { directory: { people: 1 } } }]);
    const wrong = await refusalOf('erasePerson', root.erasePerson({ path, body: { confirm: 'Gone' } }));
    expect(wrong.status).toBe(400);
    const { status, body } = await root.erasePerson({ path, body: { confirm: 'Gone Soon' } });
    const { id } = (await root.getPersonErasure({ path })).body.erasure;
    expect([status, body]).toEqual([202, { erasure: { id, state: 'running' } }]);
  });
});

describe('events, webhooks and logout with the client', () => {
  it('read new events of the feed with the client', async () => {
    const { body } = await client.listEvents({ query: { after: 'latest', wait: 30 } });
    expect([body.items, body.has_more]).toEqual([[], false]);
    const refused = await refusalOf('listEvents', client.listEvents({ query: { types: ['conversation.eaten'] } }));
    expect(refused.status).toBe(400);
  });

  it('deliver new events by webhook to an endpoint of the client', async () => {
    const { body: made } = await client.createWebhookEndpoint({ body: { url: 'https://archive.example.org/hooks' } });
    const path = { endpoint_id: made.endpoint.id };
    expect((await client.listWebhookEndpoints()).body.items).toEqual([made.endpoint]);
    expect((await client.rotateWebhookSecret({ path })).body.secret).not.toBe(made.secret);
    const { delivery } = (await client.testWebhookEndpoint({ path })).body;
    expect(
      (await client.redeliverWebhook({ path: { ...path, delivery_id: delivery.id } })).body.delivery.event_id,
    ).toBe(delivery.event_id);
    expect((await client.listWebhookDeliveries({ path })).body.items.map(({ id }) => id)).toEqual([delivery.id]);
    expect(
      (await client.recoverWebhookEndpoint({ path, body: { since: '2026-01-01T00:00:00Z' } })).body.endpoint.id,
    ).toBe(path.endpoint_id);
    expect((await client.updateWebhookEndpoint({ path, body: { disabled: true } })).body.endpoint.disabled).toBe(true);
    expect((await client.getWebhookEndpoint({ path })).body.endpoint.disabled).toBe(true);
    expect((await client.deleteWebhookEndpoint({ path })).status).toBe(204);
    const refused = await refusalOf('getWebhookEndpoint', client.getWebhookEndpoint({ path }));
    expect(refused.status).toBe(404);
  });

  it('reject calls after the logout of the client', async () => {
    expect((await client.whoami()).body.person.id).toBe(idOf('people', 'ed'));
    expect((await client.logout()).body).toEqual({ revoked: true });
    expect((await refusalOf('whoami', client.whoami())).status).toBe(401);
  });

  it('call every operation of the route table with the client', () => {
    expect(v1Routes.map(({ operationId }) => operationId).filter((name) => !used.has(name))).toEqual([]);
  });
});
