/**
 * Browse, look-ups by id, and conversation events (rules/discovery#browse, rules/discovery#conversation-events; D10,
 * D11, D17, D18).
 */
import { anyActor, byClients, byUsers, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { jsonDocument } from '../api-objects/contract.ts';

/** Maximum ids of one look-up (rules/http#limits). */
export const maxLookupIds = 50;
/** Unknown ids are skipped (D18). */
export const LookupIds = Type.Array(Type.Integer(), { maxItems: maxLookupIds, description: 'Ids, at most 50.' });

export const HolonRef = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the holon.' }),
  },
  { $id: 'HolonRef', description: 'A short form of a holon.' },
);

export const PublicPerson = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    photo: nullable(Type.String({ description: 'URL of the photo.' })),
    contact: jsonDocument('Contact values by channel, possibly empty.'),
  },
  { $id: 'PublicPerson', description: 'A person.' },
);

export const PublicHolon = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the holon.' }),
    description: Type.String({ description: 'May be empty.' }),
    logo: nullable(Type.String({ description: 'URL of the logo.' })),
    links: jsonDocument('Link values by channel, possibly empty.'),
    infos: jsonDocument("The custom fields that the holon's class declares, `locations` and `spheres`."),
  },
  { $id: 'PublicHolon', description: 'A holon, as visible with any token.' },
);

export const ConversationEvent = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the event.' }),
    parent_id: nullable(
      Type.Integer({ description: 'Null at the top of the tree, and when the caller cannot see the parent.' }),
    ),
    parent_slug: nullable(Type.String({ description: 'As `parent_id`.' })),
  },
  { $id: 'ConversationEvent', description: 'A holon whose class is a conversation event.' },
);

export const EventJourney = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    step_count: Type.Integer({ minimum: 0, description: 'Steps that are not archived.' }),
  },
  { $id: 'EventJourney', description: 'A conversation journey that the event owns.' },
);

const AttachedJourney = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    source: Type.Literal('direct'),
  },
  { $id: 'AttachedJourney', description: 'A conversation journey of an event.' },
);

const AttachedJourneys = Type.Object(
  {
    scope: Type.Literal('direct', { description: 'Only journeys attached to the event itself.' }),
    items: Type.Array(AttachedJourney, {
      description: 'Conversation journeys in the order in which they are attached.',
    }),
  },
  { $id: 'AttachedJourneys', description: 'Conversation journeys of an event.' },
);

const ChildEvent = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    type: Type.String({ description: 'Class slug of the event.' }),
    journeys: AttachedJourneys,
  },
  { $id: 'ChildEvent', description: 'A conversation event below a holon.' },
);

export const BrowsedHolon = Type.Object(
  {
    holon: HolonRef,
    events: Type.Array(ChildEvent, { description: 'Immediate children that are conversation events, by name and id.' }),
  },
  { $id: 'BrowsedHolon', description: 'A holon with its immediate conversation events.' },
);

export const browseRpcs = {
  listConversationEvents: rpc({
    subject: 'directory.events.list',
    callers: byUsers,
    summary:
      'Lists conversation events: all, or of a holon and its descendants (rules/discovery#conversation-events; D10).',
    request: Type.Object({ holon_slug: Type.Optional(Type.String()) }),
    reply: Type.Array(ConversationEvent),
  }),
  listEventJourneys: rpc({
    subject: 'directory.events.list-journeys',
    callers: byUsers,
    summary: 'Lists conversation journeys attached to an event (rules/discovery#conversation-events; D11).',
    request: Type.Object({ event_slug: Type.String() }),
    reply: Type.Array(EventJourney),
  }),
  browseHolon: rpc({
    subject: 'directory.browse.holon',
    callers: { ...byClients, conversations: anyActor },
    summary: 'Returns a holon with its immediate conversation events and their journeys (rules/discovery#browse).',
    request: Type.Object({ holon_slug: Type.String() }),
    reply: BrowsedHolon,
  }),
  lookUpPeople: rpc({
    subject: 'directory.people.look-up',
    callers: byClients,
    summary: 'Returns people by id; unknown ids are skipped (rules/discovery#browse; D18).',
    request: Type.Object({ ids: LookupIds }),
    reply: Type.Array(PublicPerson),
  }),
  lookUpHolons: rpc({
    subject: 'directory.holons.look-up',
    callers: byClients,
    summary: 'Returns holons by id; unknown and invisible ones are skipped (rules/discovery#browse; D18, D18e, D18f).',
    request: Type.Object({ ids: LookupIds }),
    reply: Type.Array(PublicHolon),
  }),
} as const;
