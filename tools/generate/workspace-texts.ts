/** Description of each list and field of the workspace file, and an example of each list. */

export interface ListText {
  readonly about: string;
  readonly example: string;
  readonly fields: Readonly<Record<string, string>>;
}

const key = 'Identifies the item across files.';
const slug = 'Identifies the item in URLs.';
const workflow = {
  journey: 'Journey, by slug.',
  step: 'Step of the journey, by slug; default for new items: the first step.',
  follow_up_after: 'Date from which the worklist shows the item, `YYYY-MM-DD`.',
  responsible: 'Key of the responsible person.',
};

export const listTexts: Readonly<Record<string, ListText>> = {
  spheres: {
    about: 'Fields of society in which holons work.',
    example: '- { key: ecology, name: Ecology }',
    fields: { key, name: 'Display name.', is_active: 'Can be selected; default true.' },
  },
  classes: {
    about: 'Kinds of holons: their labels, custom fields and allowed children.',
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
      object_kind: 'Kind of object; default `holon`.',
      parent: 'Parent class, by slug: its holons count as holons of that class, too.',
      label: 'Label in the singular.',
      plural_label: 'Label in the plural.',
      description: 'Help text for selecting a class.',
      sort_order: 'Position in lists.',
      is_system: 'Provided by the platform.',
      is_active: 'Can be selected; default true.',
      icon_url: 'URL of an icon: a path or an http(s) link.',
      conversation_event: 'Its holons are conversation events.',
      private: 'Its holons are visible only to accounts with a team on them or above, superusers and global editors.',
      name_read_only: 'The API rejects changes of the name.',
      allowed_children: 'Classes of direct children, by slug.',
      journeys: 'Journeys for its holons, by slug.',
      config:
        '`info_field_groups`: groups of fields, each with `key`, `type`, `label` and, for selections, `options`. Other keys are stored unchanged.',
    },
  },
  journeys: {
    about: 'Sequences of steps for conversations, memberships and relationships.',
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
      name: 'Display name.',
      description: 'Purpose of the journey.',
      svc_app: 'Application that shows the journey, e.g. `coherence` or `network`.',
      object_kind: 'Kind of its objects.',
      applies_to: 'Class of its holons, by slug.',
      is_conversation: 'Conversations use this journey.',
      public_visible: 'Visible to all callers with a token.',
      bulk_add: 'Allows adding many people at once.',
      texts: 'Page texts, e.g. `welcome`, `enter`, `post`; `goodbyeURL` is an http(s) link.',
      questions:
        'Questions of a conversation, in order; replaces the stored list. An unchanged text remains the same question. A text in place of an object is its `text`.',
      'questions.text': 'Text of the question.',
      'questions.is_archived': 'Not displayed any more.',
      steps: 'Steps in order. Steps that the list omits remain.',
      'steps.slug': slug,
      'steps.title': 'Display name.',
      'steps.goal': 'Goal of the step.',
      'steps.success_criteria': 'Criteria for its completion.',
      'steps.starter_message': 'Suggested first message.',
      'steps.is_archived': 'Not offered any more.',
      'steps.pipeline_job':
        'Job that starts when a conversation enters the step, e.g. `transcript_import`, `recording_import`; null = none.',
      'steps.config':
        'Configuration of the job; `advance_on_success` moves the conversation to the next step when it succeeds.',
    },
  },
  people: {
    about: 'People who take part.',
    example: '- { key: ada, name: Ada Okafor, contact: { email: ada@example.org } }',
    fields: {
      key,
      name: 'Display name.',
      description: 'Short description.',
      photo_url: 'http(s) URL of a picture.',
      contact: 'Contact values by channel, e.g. `email`, `phone`, `website`; links are http, https, mailto or tel.',
      actor_kind: '`human`, `agent`, or a value of your own.',
      infos: 'Any JSON.',
    },
  },
  holons: {
    about: 'Groups, events and other entities, in a tree. A holon can precede its parent in the list.',
    example: `- slug: spring-2026
  name: Spring 2026
  class: event
  parent: null
  journeys: [open-circle]
  infos: { theme: [listening] }`,
    fields: {
      slug,
      name: 'Display name.',
      description: 'Text, or HTML with a few tags.',
      class: 'Class, by slug.',
      parent: 'Parent holon, by slug; null = none.',
      links: 'Links by name: http, https, mailto or tel.',
      locations: 'Country codes of two letters (ISO 3166).',
      spheres: 'Spheres, by key.',
      infos: "Values of the class's fields, and any other JSON.",
      journeys: 'Journeys of the holon, by slug.',
    },
  },
  accounts: {
    about: 'Accounts for login. Use a variable for the password, so that the file contains no secret.',
    example:
      '- { email: ada@example.org, person: ada, password: { env: ADA_PASSWORD }, groups: [coherence_users], teams: [{ holon: spring-2026 }] }',
    fields: {
      email: 'Login email; case-insensitive.',
      person: 'Key of the person.',
      password:
        'At least 12 characters and not easy to guess, or `{env: NAME}`. Without a password the account cannot log in.',
      active: 'Can log in; default true.',
      superuser: 'Has all rights.',
      global_editor: 'Can edit every holon.',
      groups: 'Groups: `coherence_users` can use conversations.',
      teams: 'Holons that the account can edit, with their descendants. Teams that the list omits remain.',
      'teams.holon': 'Holon, by slug.',
      'teams.active': 'Default true.',
    },
  },
  memberships: {
    about: 'People in holons. Without a key, person, holon and journey identify the membership.',
    example:
      '- { person: ada, holon: spring-2026, journey: open-circle, step: held, follow_up_after: 2026-06-01, responsible: ada }',
    fields: { key, person: 'Person, by key.', holon: 'Holon, by slug.', ...workflow },
  },
  relationships: {
    about: 'Relations between holons. Without a key, both holons and the journey identify the relationship.',
    example: '- { key: host-spring, from: spring-2026, to: host-org, journey: hosting, step: agreed }',
    fields: { key, from: 'Holon, by slug.', to: 'Holon, by slug.', ...workflow },
  },
  agents: {
    about: 'Agents that answer visitors, on their page and in Telegram. Every text in `config` can be `{env: NAME}`.',
    example: `- slug: guide
  name: Guide
  prompt: You answer briefly and warmly.
  config:
    messaging: { bot_token: { env: TELEGRAM_BOT_TOKEN }, webhook_secret: { env: TELEGRAM_WEBHOOK_SECRET } }`,
    fields: {
      slug: 'Identifies the agent in URLs: letters, digits, `-` and `_`, at most 100 characters.',
      name: 'Display name.',
      prompt: 'Instructions for the model.',
      infos: 'Any JSON, shown by the API.',
      config:
        '`messaging`: `bot_token`, `webhook_secret` (24 to 256 of `A-Z a-z 0-9 _ -`), `echo_channel`. Other keys are stored unchanged.',
    },
  },
  conversations: {
    about:
      'Conversations held elsewhere, with transcripts and audio. Their number is not limited: JSON and YAML block sequences are read item by item. ' +
      'A file with the same name and content is uploaded only once.',
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
      key: 'Identifies the conversation in later imports, at most 500 characters.',
      journey: 'Journey, by slug.',
      step: 'Step, by slug, with a journey; default for new conversations: the first step.',
      event: 'Conversation event (holon), by slug.',
      start: 'RFC 3339.',
      finish: 'RFC 3339.',
      participants: 'People, by key.',
      connected: 'Holons, by slug.',
      infos: 'Any JSON; each key replaces its whole value.',
      config: 'Any JSON; each key replaces its whole value, `enter-coherence` the room state.',
      audio: 'Path of a file, relative to the workspace file.',
      recording: 'Files of the recording.',
      'recording.full': 'Path of a file.',
      'recording.front_trimmed': 'Path of the file without the part before consent.',
      'recording.finalized': 'The recording is complete.',
      transcript: 'All rows; they replace the rows of an earlier import.',
      'transcript.start_ms': 'Milliseconds since the start.',
      'transcript.end_ms': 'Milliseconds since the start, not before `start_ms`.',
      'transcript.person': 'Speaker: key of a person.',
      'transcript.speaker': 'Speaker name to show for an unknown person.',
      'transcript.text': 'Spoken text.',
    },
  },
};
