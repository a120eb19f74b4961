/**
 * Returns a journey for a workspace file. The journey is for an event's conversations, is named after its slug, and has
 * the step `held` followed by `steps`.
 */
export function conversationJourney(slug: string, ...steps: readonly unknown[]): Record<string, unknown> {
  return {
    slug,
    name: `Journey ${slug}`,
    svc_app: 'coherence',
    object_kind: 'holon',
    applies_to: 'event',
    is_conversation: true,
    steps: [{ slug: 'held', title: 'Held' }, ...steps],
  };
}
