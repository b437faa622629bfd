/** Payloads of each platform, copied from its documentation. */
export const mixpanelPayload = (
  action: 'members' | 'add_members' | 'remove_members',
  ids: readonly string[],
  more: { readonly page?: number; readonly of?: number; readonly session?: string; readonly name?: string } = {},
) => ({
  action,
  parameters: {
    mixpanel_project_id: '2195193',
    mixpanel_cohort_id: '1478097',
    mixpanel_cohort_name: more.name ?? 'Buyers',
    mixpanel_cohort_description: '',
    mixpanel_session_id: more.session ?? '52ac1a37-1ea8-4b4d-8eb3-1b1d9f3f3a51',
    page_info: { total_pages: more.of ?? 1, page_count: more.page ?? 1 },
    members: ids.map((id) => ({
      mixpanel_distinct_id: id,
      email: `${id}@example.com`,
      first_name: 'Ada',
      last_name: 'Lovelace',
      phone_number: '',
    })),
  },
});

export const amplitudePayload = (inside: boolean, ids: readonly string[], computed = '1692206763') => ({
  cohort_name: 'Power users',
  cohort_id: '7khm89cz',
  in_cohort: inside,
  computed_time: computed,
  message_id: `9baaa88f-3d6a-4b5f-9a9e-1b1d9f3f3a51::${inside ? 'enter' : 'exit'}::0`,
  users: ids.map((id) => ({ user_id: id, user_properties: { plan: 'pro' } })),
});

const personas = {
  computation_class: 'audience',
  computation_id: 'aud_2GmQ5wHmBrZMAhZkz1',
  computation_key: 'first_time_shopper',
  namespace: 'spa_dBdqHRvzbcvxYCdhmVBpZJ',
  space_id: 'spa_dBdqHRvzbcvxYCdhmVBpZJ',
};

export const segmentTrack = (inside: boolean, userId: string, more: object = {}) => ({
  type: 'track',
  userId,
  event: inside ? 'Audience Entered' : 'Audience Exited',
  properties: { audience_key: 'first_time_shopper', first_time_shopper: inside },
  context: { personas, traits: { email: 'ada@example.com' } },
  ...more,
});

export const segmentIdentify = (inside: boolean, userId: string) => ({
  type: 'identify',
  userId,
  traits: { first_time_shopper: inside, email: 'ada@example.com' },
  context: { personas },
});

export const postHogPage = (ids: readonly (readonly string[])[], next: string | null) => ({
  next,
  previous: null,
  results: ids.map((distinct, at) => ({
    id: at + 1,
    uuid: '018e0a3c-2f0e-0000-6b1c-3f1d9f3f3a51',
    type: 'person',
    name: distinct[0],
    distinct_ids: distinct,
    properties: { email: `${distinct[0]}@example.com`, user_id: at + 100 },
    created_at: '2024-03-01T10:00:00Z',
  })),
});
