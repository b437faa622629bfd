const AT = '2026-11-22T10:42:00.000Z';

/** Examples of what came in and what went out, by operation. */
export const CONTENT_EXAMPLES = {
  readEventContent: {
    answers: {
      id: 'evt_0GMPXQ2V7T1C9H4B8KJ5N6R3WD',
      stream: 'shop/orders',
      at: AT,
      bytes: 60,
      position: 'carillon.events/2@1041',
      config_number: 7,
      copies: 1,
      gone: null,
      fields: [
        { path: 'status', read_by: ['order-paid.paid when'], is_there: true },
        { path: 'customer.name', read_by: ['order-paid.paid template'], is_there: false },
      ],
      whole: [],
      lines: [
        { text: '{', read_by: [] },
        { text: '  "status": "paid"', read_by: ['order-paid.paid when'] },
        { text: '}', read_by: [] },
      ],
      next: null,
    },
  },
  checkExpression: {
    takes: {
      source: 'event.status == "paid" && event.totl > 100',
      place: 'when',
      stream: 'shop/orders',
      change: {
        kind: 'replace',
        at: [0],
        condition: { kind: 'compare', path: ['event', 'status'], op: '==', value: 'shipped' },
      },
    },
    answers: {
      source: 'event.status == "shipped" && event.totl > 100',
      faults: [],
      form: {
        match: 'all',
        conditions: [
          { kind: 'compare', path: ['event', 'status'], op: '==', value: 'shipped', start: 0, end: 25 },
          { kind: 'compare', path: ['event', 'totl'], op: '>', value: 100, start: 29, end: 45 },
        ],
      },
      parts: [
        { start: 0, end: 45, depth: 0 },
        { start: 0, end: 25, depth: 1 },
        { start: 0, end: 12, depth: 2 },
        { start: 29, end: 45, depth: 1 },
        { start: 29, end: 39, depth: 2 },
      ],
      fields: [
        { root: 'event', path: 'status', type: 'string', dynamic: false },
        { root: 'event', path: 'totl', type: 'number', dynamic: false },
      ],
      warnings: [{ path: 'totl', message: 'no known event of shop/orders has totl', nearest: 'total' }],
    },
  },
  simulateCadence: {
    takes: {
      notification: 'order-paid',
      last: '7d',
      put: [
        {
          kind: 'notification',
          name: 'order-paid',
          body: {
            channels: { email: { template: 'order-paid' } },
            rules: {},
            cadence: { limits: [{ max: 1, per: '1d', then: 'drop' }] },
          },
        },
      ],
    },
    answers: {
      from: '2026-11-15T10:42:00.000Z',
      to: AT,
      history: 'own',
      words: 'all messages of this time',
      is_sample: false,
      faults: [],
      now: {
        messages: 3,
        people: 2,
        people_touched: 0,
        at_once: 3,
        held: 0,
        held_median: null,
        digested: 0,
        digests: 0,
        dropped: 0,
        dropped_by: [],
        buckets: [{ at: '2026-11-22T10:00:00.000Z', came: 3, went: 3, dropped: 0 }],
        most_touched: [],
      },
      proposed: {
        messages: 3,
        people: 2,
        people_touched: 1,
        at_once: 2,
        held: 0,
        held_median: null,
        digested: 0,
        digests: 0,
        dropped: 1,
        dropped_by: [{ by: 'at most 1 message in 1d of this notification', count: 1 }],
        buckets: [{ at: '2026-11-22T10:00:00.000Z', came: 3, went: 2, dropped: 1 }],
        most_touched: [
          {
            person: 'ada@example.com',
            messages: [
              {
                delivery_id: 'dlv_37G5398XK2YK0SPEA59673M7JP',
                channel: 'email',
                caused_at: AT,
                fate: 'dropped',
                at: AT,
                by: 'at most 1 message in 1d of this notification',
                filled_by: ['dlv_6C1H9X4B2V8M7K3Z5N0QJTRWPD'],
                digest: null,
              },
            ],
            more: 0,
          },
        ],
      },
    },
  },
  explainCadence: {
    takes: { notification: 'order-paid', person: 'ada@example.com' },
    answers: {
      notification: 'order-paid',
      at: AT,
      time_zone: 'Europe/Berlin',
      transactional: false,
      notes: [],
      channels: [
        {
          channel: 'email',
          verdict: 'held',
          reason: null,
          until: '2026-11-23T08:15:00.000Z',
          quiet_hours: null,
          limits: [
            {
              limit: 'at most 1 message in 1d of this notification',
              max: 1,
              then: 'hold',
              count: 1,
              under_way: 0,
              filled_by: ['dlv_37G5398XK2YK0SPEA59673M7JP'],
              room_from: '2026-11-23T08:15:00.000Z',
            },
          ],
        },
      ],
    },
  },
  readDeliveryContent: {
    answers: {
      id: 'dlv_37G5398XK2YK0SPEA59673M7JP',
      channel: 'email',
      to: 'ada@example.com',
      template: 'order-paid',
      template_version: 2,
      config_number: 7,
      parts: [
        { name: 'variables', text: '{"order_id":"A-1001"}', characters: 21, next: null },
        { name: 'subject', text: 'Order A-1001 is paid', characters: 20, next: null },
        { name: 'text', text: 'Hello .', characters: 7, next: null },
      ],
      missing: ['customer.name'],
      notes: [],
      problem: null,
      replies: [
        {
          attempt: 'att_5R9C3XK7W1Z0TJ4M8QHB2NV6YD',
          at: AT,
          account: 'shop/mail',
          verdict: 'accepted',
          code: '250 2.0.0',
          words: 'The server accepted the message: queued as 4XkQ2z1Yq8',
          provider_id: '4XkQ2z1Yq8',
        },
      ],
    },
  },
};
