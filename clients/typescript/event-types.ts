/** Written from the contracts by `npm run fix`; change what they declare, not this file. */

/** A conversation exists. */
export type ConversationCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Bounds, participants, links, `infos` or `config` of a conversation changed. */
export type ConversationUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A conversation is deleted: nothing else of it shows. */
export type ConversationDeletedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.deleted";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Why. */
    reason: "booking_cancelled" | "bookings_joined" | "operator" | "erasure";
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A conversation has come to a step of its journey. */
export type ConversationStepEnteredEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.step_entered";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** The recording of a conversation is done. */
export type ConversationRecordedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.recorded";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** The state of the room changed. */
export type ConversationRoomUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "conversation.room_updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Another question of the journey is spoken about. */
export type QuestionChangedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "question.changed";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The question. */
    question_id: number;
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A conversation has other audio. */
export type AudioUploadedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "audio.uploaded";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** An event of the booking provider has made, changed or cancelled a conversation. */
export type BookingAppliedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "booking.applied";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Whether it is cancelled by it. */
    change: "booked" | "cancelled";
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** An event on the hook of a person could not become a conversation. */
export type BookingRefusedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "booking.refused";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Why, as in the receipt of the webhook. */
    reason: "ambiguous_booking" | "journey_error" | "refused_data_too_large" | "refused_times" | "refused_too_many_attendees" | "rejected_unidentified";
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** The published texts of a conversation were written: its title or its summary. */
export type SummaryWrittenEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "summary.written";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** The recording of a conversation is on the video host, or its record there changed. */
export type VideohostPublishedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "videohost.published";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A conversation has a recording, or another one. */
export type VideoAvailableEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "video.available";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A conversation has a transcript, or another one. */
export type TranscriptImportedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "transcript.imported";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A transcript was not imported. */
export type TranscriptRefusedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "transcript.refused";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "conversation";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Why, as in the import evidence. */
    status: "install_refused_or_incomplete" | "transcript_window_empty" | "transcript_window_missing" | "invalid_transcript_window" | "legacy_unbounded";
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** There is a new person. */
export type PersonCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "person.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Values of a person changed. */
export type PersonUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "person.updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A person was erased: nothing else of them shows. */
export type PersonErasedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "person.erased";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A person is another one: everything of theirs belongs to them now, and nothing else of the one who went shows. */
export type PersonMergedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "person.merged";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "person";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** The person who stays. */
    into: number;
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** There is a new holon. */
export type HolonCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "holon.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "holon";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Values, logo or journeys of a holon changed. */
export type HolonUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "holon.updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "holon";
    /** Id of the subject. */
    id: number;
  };
  data: Record<string, unknown>;
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** A person belongs to a holon. */
export type MembershipCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "membership.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Journey, step, follow-up, responsible person or person of a membership changed. */
export type MembershipUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "membership.updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Two holons are related. */
export type RelationshipCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "relationship.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Journey, step, follow-up or responsible person of a relationship changed. */
export type RelationshipUpdatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "relationship.updated";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
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
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Something was noted about people, holons, a membership or a relationship. */
export type NoteCreatedEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "note.created";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "note";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** Kind of the note. */
    note_type: string;
    person_id: number | null;
    /** Everybody that it is about. */
    person_ids: number[];
    holon_id: number | null;
    /** Every holon that it is about. */
    holon_ids: number[];
    membership_id: number | null;
    relationship_id: number | null;
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Nothing is sent to a webhook endpoint any more. */
export type WebhookEndpointDisabledEvent = {
  /** `evt_…`; the same wherever the event is told again. */
  id: string;
  type: "webhook_endpoint.disabled";
  /** When it happened. */
  occurred_at: string;
  /** What it happened to: who may read that sees the event. */
  subject: {
    type: "webhook_endpoint";
    /** Id of the subject. */
    id: number;
  };
  data: {
    /** `requested`: somebody did it; `gone`: it answered 410; `failing`: nothing but failures for five days. */
    reason: "requested" | "gone" | "failing";
  };
  /** Its place in the feed: what comes behind it is asked for with `after`. */
  cursor: string;
};

/** Something that happened; `type` tells the type of `data`. */
export type PlatformEvent =
  | ConversationCreatedEvent
  | ConversationUpdatedEvent
  | ConversationDeletedEvent
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
  | MembershipCreatedEvent
  | MembershipUpdatedEvent
  | RelationshipCreatedEvent
  | RelationshipUpdatedEvent
  | NoteCreatedEvent
  | WebhookEndpointDisabledEvent
  ;
