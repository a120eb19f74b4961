/**
 * For a workspace file: a journey for an event's conversations, with the step `held` first, then `steps`. Named after
 * its slug.
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
