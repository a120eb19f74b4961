/** What the reference of the workspace file says of each list and field, and an example of each list. */

export interface ListText {
  readonly about: string;
  readonly example: string;
  readonly fields: Readonly<Record<string, string>>;
}

const key = 'Names it in this file and in every later one; it is shown nowhere.';
const slug = 'Names it in addresses: letters, digits, `-`, `_`, `.`, `~`, at most 200.';
const workflow = {
  journey: 'Journey, by slug.',
  step: 'Step of the journey, by slug; the first one when a new item names none.',
  follow_up_after: 'Date from which the worklist shows it, `YYYY-MM-DD`.',
  responsible: 'Who follows it up: key of a person.',
};

export const listTexts: Readonly<Record<string, ListText>> = {
  spheres: {
    about: 'Fields of society in which holons are at work.',
    example: '- { key: ecology, name: Ecology }',
    fields: { key, name: 'Shown name.', is_active: 'Whether it can be chosen; default true.' },
  },
  classes: {
    about: 'Kinds of holons: what they are called, what fields of their own they have, what may stand below them.',
    example: `- slug: event
  label: Event
  plural_label: Events
  conversation_event: true
  config:
    info_field_groups:
      - key: about
        label: About
        fields:
          - { key: theme, type: select, label: Theme, options: [listening, care] }`,
    fields: {
      slug,
      object_kind: 'What it is a kind of; default `holon`.',
      parent: 'Class whose kind this is, by slug: it counts as that one too.',
      label: 'Name of one.',
      plural_label: 'Name of several.',
      description: 'For whoever chooses a class.',
      sort_order: 'Place in lists, a whole number.',
      is_system: 'Belongs to the platform.',
      is_active: 'Whether it can be chosen; default true.',
      icon_url: 'Address of a picture: a path or an http(s) link.',
      conversation_event: 'Its holons are the frame of conversations.',
      private: 'Its holons are seen only by accounts with a team on them or above, superusers and global editors.',
      name_read_only: 'The API refuses another name.',
      allowed_children: 'Classes that may stand directly below, by slug.',
      journeys: 'Journeys that its holons may have, by slug.',
      config:
        '`info_field_groups`: groups of fields, each with `key`, `type`, `label` and, to choose from, `options`. Other keys are kept.',
    },
  },
  journeys: {
    about: 'Ways in steps: of conversations, of people in holons, of holons with each other.',
    example: `- slug: open-circle
  name: Open circle
  applies_to: event
  is_conversation: true
  questions:
    - text: What matters to you now?
  steps:
    - { slug: held, title: Held }
    - { slug: import, title: Import the transcript, pipeline_job: transcript_import, config: { advance_on_success: true } }`,
    fields: {
      slug,
      name: 'Shown name.',
      description: 'What it is for.',
      svc_app: 'Application that shows it, e.g. `coherence` or `network`.',
      object_kind: 'Kind of the objects that walk it.',
      applies_to: 'Class whose holons it is for, by slug.',
      is_conversation: 'Conversations walk it.',
      public_visible: 'Shown to everybody with a token.',
      bulk_add: 'Many people may be added at once.',
      texts: 'Texts of the pages, e.g. `welcome`, `enter`, `post`; `goodbyeURL` is an http(s) link.',
      questions: 'Questions of a conversation, in their order: exactly these. The same text stays the same question.',
      'questions.text': 'The question.',
      steps: 'In their order. A step that the list does not name stays.',
      'steps.slug': slug,
      'steps.title': 'Shown name.',
      'steps.goal': 'What the step is for.',
      'steps.success_criteria': 'When it is done.',
      'steps.starter_message': 'What may be said first.',
      'steps.is_archived': 'Left out of what is offered.',
      'steps.pipeline_job': 'Job that a conversation starts when it comes here, e.g. `transcript_import`, `recording_import`; null = none.',
      'steps.config': "The job's settings; `advance_on_success` moves the conversation on when it is done.",
    },
  },
  people: {
    about: 'Who takes part.',
    example: '- { key: ada, name: Ada Okafor, contact: { email: ada@example.org } }',
    fields: {
      key,
      name: 'Shown name.',
      description: 'A few words about them.',
      photo_url: 'http(s) address of a picture.',
      contact: 'Ways to reach them by channel, e.g. `email`, `phone`, `website`; links are http, https, mailto or tel.',
      actor_kind: '`human` or `agent`, or a word of your own.',
      infos: 'Any JSON.',
    },
  },
  holons: {
    about: 'Groups, events and other entities, in a tree. A holon may stand before its parent in the list.',
    example: `- slug: spring-2026
  name: Spring 2026
  class: event
  parent: null
  journeys: [open-circle]
  infos: { theme: [listening] }`,
    fields: {
      slug,
      name: 'Shown name.',
      description: 'Text, or HTML of a few tags.',
      class: 'Its class, by slug.',
      parent: 'Holon above it, by slug; null = none.',
      links: 'Links by name: http, https, mailto or tel.',
      locations: 'Countries, two letters each (ISO 3166).',
      spheres: 'Spheres, by key.',
      infos: "Values of its class's fields, and any other JSON.",
      journeys: 'Journeys that belong to it, by slug.',
    },
  },
  accounts: {
    about: 'Who can log in. A password is best the name of a variable, so that the file holds no secret.',
    example:
      '- { email: ada@example.org, person: ada, password: { env: ADA_PASSWORD }, groups: [coherence_users], teams: [{ holon: spring-2026 }] }',
    fields: {
      email: 'With which one logs in; upper and lower case are the same.',
      person: 'Whose account it is: key of a person.',
      password: 'At least 12 characters and not easy to guess, or `{env: NAME}`. Without one nobody can log in.',
      active: 'May log in; default true.',
      superuser: 'May do everything.',
      global_editor: 'May edit every holon.',
      groups: 'Rights by name: `coherence_users` may use conversations.',
      teams: 'Holons that they may edit, with all below. A team that the list does not name stays.',
      'teams.holon': 'By slug.',
      'teams.active': 'Default true.',
    },
  },
  memberships: {
    about: 'People in holons. One without a key is known by its person, holon and journey.',
    example: '- { person: ada, holon: spring-2026, journey: open-circle, step: held, follow_up_after: 2026-06-01, responsible: ada }',
    fields: { key, person: 'By key.', holon: 'By slug.', ...workflow },
  },
  relationships: {
    about: 'Holons and other holons. One without a key is known by its two holons and journey.',
    example: '- { key: host-spring, from: spring-2026, to: host-org, journey: hosting, step: agreed }',
    fields: { key, from: 'Holon, by slug.', to: 'Holon, by slug.', ...workflow },
  },
  agents: {
    about: 'Agents that answer visitors, on their page and in Telegram. `{env: NAME}` may stand for every text in `config`.',
    example: `- slug: guide
  name: Guide
  prompt: You answer briefly and warmly.
  config:
    messaging: { bot_token: { env: TELEGRAM_BOT_TOKEN }, webhook_secret: { env: TELEGRAM_WEBHOOK_SECRET } }`,
    fields: {
      slug: 'Names it in addresses: letters, digits, `-` and `_`, at most 100.',
      name: 'Shown name.',
      prompt: 'Its instructions.',
      infos: 'Any JSON, shown by the API.',
      config: '`messaging`: `bot_token`, `webhook_secret` (24 to 256 of `A-Z a-z 0-9 _ -`), `echo_channel`. Other keys are kept.',
    },
  },
  conversations: {
    about:
      'Conversations that were held elsewhere, with their words and sound. They may be as many as you have: in JSON, or as a block sequence of YAML, the list is read item by item. ' +
      'A file has the same name and bytes only once: it is not sent again.',
    example: `- key: old-circle-17
  journey: open-circle
  step: held
  event: spring-2026
  start: 2025-05-01T18:00:00+02:00
  participants: [ada]
  audio: sound/old-circle-17.mp3
  transcript:
    - { start_ms: 0, end_ms: 4200, person: ada, text: 'Welcome, everybody.' }`,
    fields: {
      key: 'Finds the conversation again in every later import, at most 500 characters.',
      journey: 'By slug.',
      step: 'By slug, beside a journey; the first one when a new conversation names none.',
      event: 'Holon, by slug.',
      start: 'RFC 3339.',
      finish: 'RFC 3339.',
      participants: 'People, by key.',
      connected: 'Holons, by slug.',
      infos: 'Any JSON; each named key replaces the whole value.',
      config: 'Any JSON; each named key replaces the whole value, `enter-coherence` the state of the room.',
      audio: 'Path of a file, relative to this one.',
      recording: 'The video.',
      'recording.full': 'Path of a file.',
      'recording.front_trimmed': 'Path of the file without what was said before the agreement.',
      'recording.finalized': 'Nothing more is to come.',
      transcript: 'All rows: they replace those of an earlier import.',
      'transcript.start_ms': 'Milliseconds since the start.',
      'transcript.end_ms': 'Milliseconds since the start, not before `start_ms`.',
      'transcript.person': 'Who spoke: key of a person.',
      'transcript.speaker': 'Name to show when the person is unknown.',
      'transcript.text': 'What was said.',
    },
  },
};
