/** Written from the contracts by `npm run fix`; change what they declare, not this file. */

/** A conversation was created. */
export type ConversationCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    journey_id: number | null;
    journey: string | null;
    event_id: number | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Bounds, participants, links, `infos` or `config` of a conversation changed. */
export type ConversationUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A conversation was deleted and is no longer visible. */
export type ConversationDeletedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.deleted";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Why. */
    reason: "booking_cancelled" | "bookings_joined" | "operator" | "account" | "erasure";
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A deleted conversation was restored and is visible again. */
export type ConversationRestoredEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.restored";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A conversation entered a step of its journey. */
export type ConversationStepEnteredEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.step_entered";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    journey_id: number | null;
    journey: string | null;
    /** The step. */
    step_id: number;
    /** Slug of the step. */
    step: string;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A conversation was recorded. */
export type ConversationRecordedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.recorded";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** The state of the room changed. */
export type ConversationRoomUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "conversation.room_updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Another question of the journey is active. */
export type QuestionChangedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "question.changed";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The question. */
    question_id: number;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** The audio of a conversation was uploaded or replaced. */
export type AudioUploadedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "audio.uploaded";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A booking event created, changed or cancelled a conversation. */
export type BookingAppliedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "booking.applied";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Whether the event cancelled the conversation. */
    change: "booked" | "cancelled";
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A booking event on a person's hook could not be applied. */
export type BookingRefusedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "booking.refused";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Reason, as in the webhook receipt. */
    reason: "ambiguous_booking" | "journey_error" | "refused_data_too_large" | "refused_times" | "refused_too_many_attendees" | "rejected_unidentified";
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** The published title or summary of a conversation was written. */
export type SummaryWrittenEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "summary.written";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** The recording of a conversation was published on the video host, or its record changed. */
export type VideohostPublishedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "videohost.published";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A recording became available or was replaced. */
export type VideoAvailableEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "video.available";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A transcript was imported or replaced. */
export type TranscriptImportedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "transcript.imported";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A transcript was not imported. */
export type TranscriptRefusedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "transcript.refused";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Why, as in the import evidence. */
    status: "install_refused_or_incomplete" | "transcript_window_empty" | "transcript_window_missing" | "invalid_transcript_window" | "legacy_unbounded";
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A person was created. */
export type PersonCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "person.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A person was changed. */
export type PersonUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "person.updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A person was erased. No further events of this person follow. */
export type PersonErasedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "person.erased";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A person was merged into another, who now owns all their data. No further events of the merged person follow. */
export type PersonMergedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "person.merged";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The surviving person. */
    into: number;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A holon was created. */
export type HolonCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "holon.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "holon";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Values, logo or journeys of a holon changed. */
export type HolonUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "holon.updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "holon";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A holon was deleted. No further events of this holon follow. */
export type HolonDeletedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "holon.deleted";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "holon";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A membership was created. */
export type MembershipCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "membership.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "membership";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The person. */
    person_id: number;
    /** The holon. */
    holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Journey, step, follow-up, responsible person or person of a membership changed. */
export type MembershipUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "membership.updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "membership";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The person. */
    person_id: number;
    /** The holon. */
    holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A membership was deleted. No further events of this membership follow. */
export type MembershipDeletedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "membership.deleted";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "membership";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The person. */
    person_id: number;
    /** The holon. */
    holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A relationship was created. */
export type RelationshipCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "relationship.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "relationship";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** One holon. */
    from_holon_id: number;
    /** The other. */
    to_holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Journey, step, follow-up or responsible person of a relationship changed. */
export type RelationshipUpdatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "relationship.updated";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "relationship";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** One holon. */
    from_holon_id: number;
    /** The other. */
    to_holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A relationship was deleted. No further events of this relationship follow. */
export type RelationshipDeletedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "relationship.deleted";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "relationship";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** One holon. */
    from_holon_id: number;
    /** The other. */
    to_holon_id: number;
    journey_id: number | null;
    journey: string | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A note about people, holons, a membership or a relationship was created. */
export type NoteCreatedEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "note.created";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "note";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Kind of the note. */
    note_type: string;
    person_id: number | null;
    /** All people of the note. */
    person_ids: number[];
    holon_id: number | null;
    /** All holons of the note. */
    holon_ids: number[];
    membership_id: number | null;
    relationship_id: number | null;
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** A webhook endpoint was disabled. */
export type WebhookEndpointDisabledEvent = {
  /** Id of the event, `evt_…`; the same in the feed and in all deliveries. */
  id: string;
  type: "webhook_endpoint.disabled";
  /** Time of the change. */
  occurred_at: string;
  /** Subject of the event. Visible to callers who can read it. */
  subject: {
    type: "webhook_endpoint";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** `requested`: disabled by a user or operator; `gone`: the endpoint responded 410; `failing`: all attempts of five days failed. */
    reason: "requested" | "gone" | "failing";
  };
  /** Position in the feed; pass it as `after` to read later events. */
  cursor: string;
};

/** Something that happened; `type` tells the type of `data`. */
export type PlatformEvent =
  | ConversationCreatedEvent
  | ConversationUpdatedEvent
  | ConversationDeletedEvent
  | ConversationRestoredEvent
  | ConversationStepEnteredEvent
  | ConversationRecordedEvent
  | ConversationRoomUpdatedEvent
  | QuestionChangedEvent
  | AudioUploadedEvent
  | BookingAppliedEvent
  | BookingRefusedEvent
  | SummaryWrittenEvent
  | VideohostPublishedEvent
  | VideoAvailableEvent
  | TranscriptImportedEvent
  | TranscriptRefusedEvent
  | PersonCreatedEvent
  | PersonUpdatedEvent
  | PersonErasedEvent
  | PersonMergedEvent
  | HolonCreatedEvent
  | HolonUpdatedEvent
  | HolonDeletedEvent
  | MembershipCreatedEvent
  | MembershipUpdatedEvent
  | MembershipDeletedEvent
  | RelationshipCreatedEvent
  | RelationshipUpdatedEvent
  | RelationshipDeletedEvent
  | NoteCreatedEvent
  | WebhookEndpointDisabledEvent
  ;
