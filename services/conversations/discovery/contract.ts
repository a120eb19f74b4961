/**
 * Contract of search, summary and browse (rules/discovery#search-and-summary, rules/discovery#browse; D5, D18a to
 * D18g).
 */
import { byClients, byUsers, maxId, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { HolonRef, PublicPerson } from '#services/directory';
import { AnyId, Instant, JsonDocument, PersonOut } from '../schemas.ts';

const Step = Type.Object(
  { slug: Type.String({ description: 'Empty when unset.' }), title: Type.String({ description: 'Empty when unset.' }) },
  { $id: 'StepRef', description: 'The current step.' },
);

const title = Type.String({
  description: 'The publishing field `title`; else `Conversation of <date of the start>`, else `Conversation <id>`.',
});

export const SearchItem = Type.Object(
  {
    id: Type.Integer(),
    title,
    event: nullable(HolonRef),
    journey: Type.Object(
      {
        slug: Type.String({ description: 'Empty when unset.' }),
        name: Type.String({ description: 'Empty when unset.' }),
        description: Type.String({ description: 'May be empty.' }),
      },
      { $id: 'JourneyRef', description: 'The journey of the conversation.' },
    ),
    step: Step,
    start: nullable(Instant('Scheduled or actual start.')),
    finish: nullable(Instant('Scheduled or actual end; null = open-ended.')),
    participants: Type.Array(PersonOut, { description: 'In the order in which they joined.' }),
    connected: Type.Array(HolonRef, { description: 'Explicitly linked holons; the owning event is not among them.' }),
  },
  {
    $id: 'ConversationSummary',
    description: 'A conversation in search results: never with `infos`, `config` or transcript.',
  },
);

export const PublicConversation = Type.Object(
  {
    id: Type.Integer(),
    title,
    start: nullable(Instant('Scheduled or actual start.')),
    finish: nullable(Instant('Scheduled or actual end; null = open-ended.')),
    step: Step,
    participants: Type.Array(PublicPerson, { description: 'In the order in which they joined.' }),
    connected: Type.Array(HolonRef, { description: 'Explicitly linked holons; the owning event is not among them.' }),
    publishing: Type.Object(
      {
        fields: JsonDocument('Publishing fields by name; `{}` when there are none.'),
        records: JsonDocument('Publishing records by name; `{}` when there are none.'),
        artifacts: JsonDocument('Publishing artifacts by name; `{}` when there are none.'),
      },
      { $id: 'Publishing', description: 'The public publishing payload without provenance.' },
    ),
    public: Type.Object(
      {
        summary: Type.String({ description: 'Short public summary; may be empty.' }),
        thumbnail: nullable(
          Type.String({ description: "First imported thumbnail, otherwise the thumbnail of the video host's record." }),
        ),
        videohost_description: nullable(Type.String()),
      },
      { $id: 'PublicSummary', description: 'Summary for pages.' },
    ),
  },
  { $id: 'PublicConversation', description: 'The public view of a conversation, for any valid token.' },
);

export const JourneyBrowse = Type.Object(
  {
    id: Type.Integer(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    texts: JsonDocument('Texts of the journey; `{}` when not configured.'),
  },
  { $id: 'JourneyBrowse', description: 'A journey as browse shows it.' },
);

export const BrowsedJourney = Type.Object(
  { journey: JourneyBrowse, conversations: Type.Array(PublicConversation) },
  { $id: 'BrowsedJourney', description: 'A journey with its conversations.' },
);

export const BrowsedEvents = Type.Object(
  {
    holon: HolonRef,
    events: Type.Array(
      Type.Object(
        {
          ...HolonRef.properties,
          journeys: Type.Array(BrowsedJourney, {
            description: 'Directly attached conversation journeys in the order in which they are attached.',
          }),
        },
        { $id: 'BrowsedEvent', description: 'An event with its journeys.' },
      ),
      { description: 'Immediate child events by name, id.' },
    ),
  },
  { $id: 'BrowsedEvents', description: 'A holon with the conversations of its events.' },
);

/** Sort orders. Conversations without a start are last in both orders; ties are sorted by id. */
export const SearchSort = Type.Union([Type.Literal('date_desc'), Type.Literal('date_asc')], {
  default: 'date_desc',
  description: '`date_desc` (default) or `date_asc`; conversations without a start are last in both, then by id.',
});

export const searchFilters = {
  holon_slug: Type.Optional(
    Type.String({ description: 'Owned by this holon: its event is the holon or a descendant of it.' }),
  ),
  connected_holon_slug: Type.Optional(Type.String({ description: 'Explicitly linked to this holon.' })),
  person_id: Type.Optional(Type.Integer({ description: 'This person is among the participants.' })),
};

/** Further filters; `from` and `to` are about the start. */
export const searchQuery = {
  ...searchFilters,
  sort: Type.Optional(SearchSort),
  journey: Type.Optional(Type.String({ description: 'Slug of the journey.' })),
  step: Type.Optional(Type.String({ description: 'Slug of the current step, of the journey or of any journey.' })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only those that start then or later; UTC without an offset.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only those that start earlier; UTC without an offset.' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 500,
      description: "Words in any order, each in the title or in a participant's name. Case and accents do not matter.",
    }),
  ),
  deleted: Type.Optional(
    Type.Boolean({ description: 'True: only deleted conversations. Requires coherence access. Default false.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      description:
        'Conversations of a page, at most 200. The response then has `X-Total-Count` and, unless it is the last page, a `Link` to the next one.',
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: maxId, description: 'Conversations to skip; default 0.' })),
};

export const discoveryRpcs = {
  search: rpc({
    subject: 'conversations.conversations.search',
    callers: byUsers,
    summary:
      'Conversations visible to the caller, filtered and sorted. 404 when the target of a filter does not exist.',
    request: Type.Object(searchQuery),
    reply: Type.Array(SearchItem),
    errors: {
      coherence_access_required: {
        code: 'permission_denied',
        when: '`deleted` is true and the caller has no coherence access.',
      },
    },
  }),
  summarize: rpc({
    subject: 'conversations.conversations.summarize',
    callers: byUsers,
    summary: 'One conversation as a search item.',
    request: Type.Object({ conversation_id: AnyId }),
    reply: SearchItem,
  }),
  browseHolon: rpc({
    subject: 'conversations.browse.holon',
    callers: byClients,
    summary:
      "Conversations of a holon's immediate events by event and attached journey. 404 when the caller cannot see the holon.",
    request: Type.Object({ holon_slug: Type.String() }),
    reply: BrowsedEvents,
  }),
  browseJourney: rpc({
    subject: 'conversations.browse.journey',
    callers: byClients,
    summary:
      'Conversations of a conversation journey, optionally of one event. 404 when the journey or event does not exist.',
    request: Type.Object({
      journey_id: Type.Optional(Type.Integer({ description: 'Exactly one of `journey_id` and `journey_slug`.' })),
      journey_slug: Type.Optional(Type.String({ description: 'Exactly one of `journey_id` and `journey_slug`.' })),
      holon_slug: Type.Optional(
        Type.String({ description: 'Only conversations that this event owns or that are linked to it.' }),
      ),
    }),
    reply: BrowsedJourney,
    errors: {
      bad_request: { code: 'bad_request', when: 'Both or neither of `journey_id` and `journey_slug` are given.' },
    },
  }),
} as const;
