/** Lists that can be followed while they change. */
export const LIVE_TOPICS = ['deliveries', 'events', 'inbox', 'drafts', 'dead-letters'] as const;
