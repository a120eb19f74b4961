/**
 * The public face of the directory: people, accounts and login sessions, classes, holons, journeys, memberships, relationships,
 * person and holon notes, and the workspace file. architecture#services, rules/workspace#workspace-file.
 */
import { byAnybody, byOperators, byUsers, ownAccount, defineService, event, job, jobAdminRpcs, rpc, Type } from '#libs/contract';
import { accountRpcs } from './accounts/contract.ts';
import { classRpcs } from './classes/contract.ts';
import { erasureRpcs } from './person-data/contract.ts';
import { experienceJobs, experienceRpcs } from './experiences/contract.ts';
import { holonUpdateRpcs } from './contract/holon-update.ts';
import { holonRpcs } from './holons/contract.ts';
import { journeyRpcs } from './journeys/contract.ts';
import { linkRpcs } from './links/contract.ts';
import { membershipRpcs } from './memberships/contract.ts';
import { NoteItem, noteRpcs } from './notes/contract.ts';
import { peopleWriteRpcs } from './contract/people-write.ts';
import { peopleRpcs, PersonPublic } from './people/contract.ts';
import { relationshipRpcs } from './relationships/contract.ts';
import { responsibleRpcs } from './worklist/contract.ts';
import { searchRpcs } from './search/contract.ts';
import { workspaceExportRpcs } from './workspace/contract.ts';
import { conversationSurfaceRpcs } from './browse/contract.ts';

export * from './accounts/contract.ts';
export * from './classes/contract.ts';
export * from './person-data/contract.ts';
export * from './experiences/contract.ts';
export * from './contract/holon-update.ts';
export * from './holons/contract.ts';
export * from './journeys/contract.ts';
export * from './links/contract.ts';
export * from './memberships/contract.ts';
export * from './notes/contract.ts';
export * from './contract/people-write.ts';
export * from './people/contract.ts';
export * from './relationships/contract.ts';
export * from './worklist/contract.ts';
export * from './search/contract.ts';
export * from './workspace/contract.ts';
export * from './browse/contract.ts';

/** Positive 32-bit integer, the id of a row. */
const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
/** Ids asked for in one call; whoever needs more asks again. */
const idList = Type.Array(id, { maxItems: 10_000 });
const jsonObject = Type.Record(Type.String(), Type.Unknown());
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** One problem of a workspace document: keys and indexes from its root, and what is wrong there. */
export const workspaceProblem = Type.Object({
  path: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  message: Type.String(),
});

/** One item that an application of the workspace file creates or changes. Values of secrets are never shown. */
export const workspaceChange = Type.Object({
  list: Type.String(),
  key: Type.String(),
  action: Type.Union([Type.Literal('create'), Type.Literal('update')]),
  fields: Type.Array(Type.Object({ field: Type.String(), old: Type.Unknown(), new: Type.Unknown() })),
});

/** What a caller may do, as the gateway puts it in the `Actor` header. */
const userActor = Type.Object({
  kind: Type.Literal('user'),
  accountId: id,
  personId: nullable(id),
  superuser: Type.Boolean(),
  globalEditor: Type.Boolean(),
  coherenceAccess: Type.Boolean({ description: 'Superuser or member of `coherence_users` (rules/access#classes-of-routes).' }),
  sessionKey: Type.String({ description: 'Session of the token; what logout revokes.' }),
});

const question = Type.Object({ id, text: Type.String(), order: Type.Integer({ minimum: 0 }) });

const step = Type.Object({
  id,
  slug: Type.String(),
  title: Type.String(),
  order: Type.Integer(),
  is_archived: Type.Boolean(),
  pipeline_job: nullable(Type.String()),
});

const journey = Type.Object({
  id,
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  texts: jsonObject,
  is_conversation: Type.Boolean(),
  questions: Type.Array(question, { description: 'By `order`, from 0 (D4).' }),
  steps: Type.Array(step, { description: 'By (order, id), archived ones included.' }),
  owner_event_ids: Type.Array(id, { description: 'Conversation-event holons with the journey attached directly, ascending (D18d).' }),
});

const holon = Type.Object({
  id,
  slug: Type.String(),
  name: Type.String(),
  type: Type.String({ description: 'Slug of the class, retired or not.' }),
  description: Type.String(),
  parent_id: nullable(id),
  private: Type.Boolean({ description: 'The class or an ancestor of it is private (D48).' }),
  conversation_event: Type.Boolean(),
});

const person = Type.Object({
  id,
  name: Type.String(),
  photo: nullable(Type.String()),
  contact: jsonObject,
  description: Type.String(),
  actor_kind: Type.String(),
});

const changedIds = Type.Object({ ids: nullable(Type.Array(id)) }, { description: 'null: too many to name, forget all.' });
const badWorkspace = {
  invalid_workspace: { code: 'bad_request', when: 'The document has problems; `problems` lists every one. Nothing was changed.' },
} as const;

export const directory = defineService({
  service: 'directory',
  rpcs: {
    ...jobAdminRpcs('directory'),
    ...accountRpcs,
    ...conversationSurfaceRpcs,
    ...peopleWriteRpcs,
    ...erasureRpcs,
    ...holonUpdateRpcs,
    ...experienceRpcs,
    ...linkRpcs,
    ...searchRpcs,
    ...peopleRpcs,
    ...holonRpcs,
    ...classRpcs,
    ...journeyRpcs,
    ...membershipRpcs,
    ...relationshipRpcs,
    ...noteRpcs,
    ...responsibleRpcs,
    ...workspaceExportRpcs,
    getPeople: rpc({
      subject: 'directory.people.get-many',
      callers: { conversations: ownAccount, transcripts: ownAccount },
      summary: 'People by id. Unknown ids are absent; the order is that of the ids.',
      request: Type.Object({ ids: idList }),
      reply: Type.Object({ items: Type.Array(person) }),
    }),
    resolveAttendees: rpc({
      subject: 'directory.people.resolve-attendees',
      callers: { conversations: ownAccount },
      summary: 'Finds the people behind email addresses (case ignored) and creates the unknown ones when asked (D19, D19a).',
      request: Type.Object({
        attendees: Type.Array(Type.Object({ name: Type.String(), email: nullable(Type.String()) }), { maxItems: 1_000 }),
        create: Type.Boolean({ description: 'False: an unknown attendee stays null.' }),
        key: Type.String({ minLength: 1, description: 'The same key gives the same people again, those without an email included.' }),
      }),
      reply: Type.Object({ person_ids: Type.Array(nullable(id), { description: 'One for each attendee, in order.' }) }),
      errors: { too_many_new_people: { code: 'conflict', when: 'More than 50 people would be created; none is (D66).' } },
    }),
    findPeopleByKeys: rpc({
      subject: 'admin.directory.people.find-by-keys',
      callers: byOperators,
      summary: 'Ids of people by their keys of the workspace file; unknown ones are absent.',
      request: Type.Object({ keys: Type.Array(Type.String(), { maxItems: 10_000 }) }),
      reply: Type.Object({ items: Type.Array(Type.Object({ key: Type.String(), id })) }),
    }),
    getHolons: rpc({
      subject: 'directory.holons.get-many',
      callers: { conversations: ownAccount, cli: ownAccount },
      summary: 'Holons by id or slug; unknown ones are absent.',
      request: Type.Object({ ids: Type.Optional(idList), slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })) }),
      reply: Type.Object({ items: Type.Array(holon) }),
    }),
    getJourneys: rpc({
      subject: 'directory.journeys.get-many',
      callers: { conversations: ownAccount, cli: ownAccount },
      summary: 'Journeys with questions, steps and owning events, by id or slug; unknown ones are absent.',
      request: Type.Object({ ids: Type.Optional(idList), slugs: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })) }),
      reply: Type.Object({ items: Type.Array(journey) }),
    }),
    getStepConfig: rpc({
      subject: 'directory.steps.get-config',
      callers: { agents: ownAccount, media: ownAccount, transcripts: ownAccount },
      summary: "Validated configuration of a step with the job model's defaults, for the job's worker (rules/steps#pipeline-jobs).",
      request: Type.Object({ step_id: id }),
      reply: Type.Object({ pipeline_job: nullable(Type.String()), config: jsonObject }),
      errors: {
        invalid_step_config: { code: 'bad_request', when: "The stored configuration does not fit the job's model; see `fields`." },
      },
    }),
    login: rpc({
      subject: 'directory.sessions.login',
      callers: byAnybody,
      summary: 'Exchanges email and password for a token valid for 24 hours (rules/access#login; D40).',
      request: Type.Object({ email: Type.String(), password: Type.String(), ip: Type.String() }),
      reply: Type.Object({
        token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`, shown this once.' }),
        token_type: Type.Literal('Bearer'),
        expires_at: Type.String({ format: 'date-time', description: 'With explicit offset.' }),
        expires_in_seconds: Type.Integer(),
        person: PersonPublic,
      }),
      idempotent: false,
    }),
    refuseLogin: rpc({
      subject: 'directory.sessions.refuse-login',
      callers: byAnybody,
      summary:
        'Answers a login whose gate key is wrong: the same work and error as a wrong password (D40), a throttle of its own (D76). Never succeeds.',
      request: Type.Object({ ip: Type.String() }),
      reply: Type.Object({}),
      idempotent: false,
    }),
    logout: rpc({
      subject: 'directory.sessions.logout',
      callers: byUsers,
      summary: "Revokes the session of the caller's token.",
      request: Type.Object({}),
      reply: Type.Object({ revoked: Type.Literal(true) }),
    }),
    verifySession: rpc({
      subject: 'directory.sessions.verify',
      callers: byAnybody,
      summary: 'Who a per-user token belongs to; unauthenticated when unknown, expired, revoked or of an inactive account.',
      request: Type.Object({ token: Type.String({ maxLength: 8_192 }) }),
      reply: Type.Object({ actor: userActor, expires_at: Type.String({ format: 'date-time' }) }),
      timeoutMs: 5_000,
    }),
    whoami: rpc({
      subject: 'directory.sessions.whoami',
      callers: byUsers,
      summary: "The caller's person (GET /api/v1/auth/whoami).",
      request: Type.Object({}),
      reply: Type.Object({ authenticated: Type.Literal(true), person: PersonPublic }),
    }),
    listNotes: rpc({
      subject: 'admin.directory.notes.list',
      callers: byOperators,
      summary: 'Notes of a person or a holon, newest first; for the admin CLI.',
      request: Type.Object({
        person_id: Type.Optional(id),
        holon_id: Type.Optional(id),
        before: Type.Optional(id),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      }),
      reply: Type.Object({ items: Type.Array(NoteItem) }),
    }),
    applyWorkspace: rpc({
      subject: 'admin.directory.workspace.apply',
      callers: byOperators,
      summary: 'Applies the lists of a workspace file that the directory owns, whole or not at all (rules/workspace#workspace-file).',
      request: Type.Object({
        document: Type.Optional(Type.Unknown({ description: 'The file as JSON, secrets resolved, without the lists of other services.' })),
        upload_id: Type.Optional(Type.String({ description: 'A document brought by `directory.workspace.upload` instead.' })),
        dry_run: Type.Boolean(),
      }),
      reply: Type.Object({
        created: Type.Integer(),
        updated: Type.Integer(),
        unchanged: Type.Integer(),
        ids: Type.Record(Type.String(), Type.Record(Type.String(), Type.Integer()), {
          description: 'For each list: key → id. On a dry run only what exists already.',
        }),
        diff: Type.Array(workspaceChange, { description: 'At most the first 1,000 changes.' }),
        diff_truncated: Type.Boolean(),
      }),
      errors: badWorkspace,
      timeoutMs: 600_000,
    }),
    uploadWorkspace: rpc({
      subject: 'admin.directory.workspace.upload',
      callers: byOperators,
      summary: 'Keeps one part of the JSON text of a document that is too large for one message, for an hour.',
      request: Type.Object({
        upload_id: Type.String({ pattern: '^[a-z0-9]{16,64}$' }),
        part: Type.Integer({ minimum: 0, maximum: 10_000 }),
        text: Type.String({ maxLength: 2_000_000 }),
      }),
      reply: Type.Object({}),
    }),
  },
  jobs: {
    ...experienceJobs,
    noteAdd: job({
      type: 'directory.note-add',
      startedBy: ['conversations'],
      summary: 'Adds a note of another service to people and holons, once for each key; ids that do not exist are skipped.',
      payload: Type.Object({
        key: Type.String({ minLength: 1, maxLength: 500, description: 'The same key adds the note once.' }),
        person_ids: Type.Optional(Type.Array(id)),
        holon_ids: Type.Optional(Type.Array(id)),
        body: Type.String(),
        note_type: Type.String({ minLength: 1, maxLength: 64 }),
        author_person_id: nullable(id),
        created_at: Type.Optional(Type.String({ format: 'date-time' })),
      }),
    }),
  },
  events: {
    peopleChanged: event({
      subject: 'events.directory.people.changed',
      heardBy: ['conversations'],
      summary: 'People were created or changed.',
      payload: changedIds,
    }),
    holonsChanged: event({
      subject: 'events.directory.holons.changed',
      heardBy: ['conversations'],
      summary: 'Holons, their attachments or their classes were created or changed.',
      payload: changedIds,
    }),
    journeysChanged: event({
      subject: 'events.directory.journeys.changed',
      heardBy: ['conversations'],
      summary: 'Journeys, steps, questions or the events that own them were created or changed.',
      payload: changedIds,
    }),
    sessionsRevoked: event({
      subject: 'events.directory.sessions.revoked',
      heardBy: ['api-gateway'],
      summary: 'Tokens became invalid, or what their account may do changed.',
      payload: Type.Object({ session_keys: Type.Array(Type.String()) }),
    }),
  },
});
