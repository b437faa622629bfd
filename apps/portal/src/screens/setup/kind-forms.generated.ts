// Written by `node schemas/generate.ts` from libs/shapes; do not edit.
export const ACCOUNT_FORMS = [
  {
    "kind": "smtp",
    "title": "Email by SMTP",
    "summary": "Any mail server: your own, Amazon SES, SendGrid, Mailgun, Postmark.",
    "channels": [
      "email"
    ],
    "initial": {
      "port": 587
    },
    "parts": [
      {
        "path": [
          "host"
        ],
        "kind": "text",
        "label": "Server",
        "placeholder": "smtp.example.com"
      },
      {
        "path": [
          "port"
        ],
        "kind": "number",
        "label": "Port",
        "note": "587 with STARTTLS, 465 with TLS from the first byte.",
        "placeholder": "587"
      },
      {
        "path": [
          "tls"
        ],
        "kind": "choice",
        "label": "Encryption",
        "isRare": true,
        "options": [
          {
            "id": "",
            "name": "As the port and user say"
          },
          {
            "id": "implicit",
            "name": "TLS from the first byte"
          },
          {
            "id": "starttls",
            "name": "STARTTLS, or no sending"
          },
          {
            "id": "opportunistic",
            "name": "STARTTLS where offered"
          },
          {
            "id": "none",
            "name": "None: clear text"
          }
        ]
      },
      {
        "path": [
          "user"
        ],
        "kind": "text",
        "label": "User",
        "note": "Leave empty if the server needs none."
      },
      {
        "path": [
          "password"
        ],
        "kind": "secret",
        "label": "Password",
        "ending": "PASSWORD",
        "note": "Stored as a secret. The draft contains only the name of the secret."
      },
      {
        "path": [
          "from"
        ],
        "kind": "text",
        "label": "Sender",
        "note": "Used when the template sets no sender.",
        "placeholder": "Shop <shop@example.com>"
      },
      {
        "path": [
          "connections"
        ],
        "kind": "number",
        "label": "Maximum connections",
        "isRare": true
      },
      {
        "path": [
          "dkim",
          "domain"
        ],
        "kind": "text",
        "label": "DKIM: signing domain",
        "isRare": true,
        "placeholder": "shop.example.com"
      },
      {
        "path": [
          "dkim",
          "selector"
        ],
        "kind": "text",
        "label": "DKIM: selector",
        "isRare": true,
        "placeholder": "k1"
      },
      {
        "path": [
          "dkim",
          "key"
        ],
        "kind": "secret",
        "label": "DKIM private key",
        "ending": "DKIM_KEY",
        "isLong": true,
        "isRare": true,
        "note": "RSA, PEM. The check shows the record that DNS needs."
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Maximum messages a second",
        "note": "Of all processes together. More messages wait in the queue of this account.",
        "isRare": true
      },
      {
        "path": [
          "return_path"
        ],
        "kind": "text",
        "label": "Bounce domain",
        "isRare": true,
        "placeholder": "bounces.shop.example.com"
      }
    ]
  },
  {
    "kind": "twilio",
    "title": "SMS by Twilio",
    "summary": "Text messages from your number, short code or sender name.",
    "channels": [
      "sms"
    ],
    "initial": {},
    "parts": [
      {
        "path": [
          "account_sid"
        ],
        "kind": "text",
        "label": "Account SID",
        "placeholder": "AC0123456789abcdef0123456789abcdef"
      },
      {
        "path": [
          "auth_token"
        ],
        "kind": "secret",
        "label": "Auth token",
        "ending": "AUTH_TOKEN",
        "note": "Also verifies delivery reports of Twilio. Stored as a secret."
      },
      {
        "path": [
          "api_key",
          "sid"
        ],
        "kind": "text",
        "label": "API key: SID",
        "isRare": true,
        "placeholder": "SK…"
      },
      {
        "path": [
          "api_key",
          "secret"
        ],
        "kind": "secret",
        "label": "API key: secret",
        "ending": "API_SECRET",
        "isRare": true
      },
      {
        "path": [
          "from"
        ],
        "kind": "text",
        "label": "Number",
        "note": "A number, short code or sender name that Twilio knows. Leave empty if you use a Messaging Service.",
        "placeholder": "+4915112345678"
      },
      {
        "path": [
          "messaging_service"
        ],
        "kind": "text",
        "label": "Messaging Service SID",
        "isRare": true,
        "placeholder": "MG…"
      },
      {
        "path": [
          "allow"
        ],
        "kind": "list",
        "label": "Allowed number prefixes, one per line",
        "note": "Other numbers use the other accounts of the notification.",
        "isRare": true,
        "placeholder": "+49"
      },
      {
        "path": [
          "max_segments"
        ],
        "kind": "number",
        "label": "Maximum segments",
        "note": "A longer text is not sent. The provider charges each segment.",
        "isRare": true
      },
      {
        "path": [
          "connections"
        ],
        "kind": "number",
        "label": "Maximum concurrent requests",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Maximum messages a second",
        "note": "Of all processes together. More messages wait in the queue of this account.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "URL instead of the provider’s",
        "note": "For tests and proxies.",
        "isRare": true
      }
    ]
  },
  {
    "kind": "vonage",
    "title": "SMS by Vonage",
    "summary": "Text messages through the Messages API of Vonage.",
    "channels": [
      "sms"
    ],
    "initial": {},
    "parts": [
      {
        "path": [
          "application_id"
        ],
        "kind": "text",
        "label": "Application id",
        "note": "In the Vonage dashboard, under Applications.",
        "placeholder": "78d335fa-323d-4114-9c3d-d6f0d48968cf"
      },
      {
        "path": [
          "private_key"
        ],
        "kind": "secret",
        "label": "Private key of the application",
        "ending": "PRIVATE_KEY",
        "isLong": true,
        "note": "The PEM file, which Vonage shows only once. Stored as a secret."
      },
      {
        "path": [
          "signature_secret"
        ],
        "kind": "secret",
        "label": "Signature secret",
        "ending": "SIGNATURE_SECRET",
        "note": "Verifies delivery reports and STOP; without it both are refused. In the API settings of the Vonage dashboard."
      },
      {
        "path": [
          "from"
        ],
        "kind": "text",
        "label": "Number",
        "note": "A number, a short code or a sender name of at most 11 letters.",
        "placeholder": "+4915112345678"
      },
      {
        "path": [
          "allow"
        ],
        "kind": "list",
        "label": "Allowed number prefixes, one per line",
        "note": "Other numbers use the other accounts of the notification.",
        "isRare": true,
        "placeholder": "+49"
      },
      {
        "path": [
          "max_segments"
        ],
        "kind": "number",
        "label": "Maximum segments",
        "note": "A longer text is not sent. The provider charges each segment.",
        "isRare": true
      },
      {
        "path": [
          "connections"
        ],
        "kind": "number",
        "label": "Maximum concurrent requests",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Maximum messages a second",
        "note": "Of all processes together. More messages wait in the queue of this account.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "URL instead of the provider’s",
        "note": "For tests and proxies.",
        "isRare": true
      }
    ]
  },
  {
    "kind": "fcm",
    "title": "Push by Firebase Cloud Messaging",
    "summary": "Push notifications on Android, iOS and in browsers.",
    "channels": [
      "push"
    ],
    "initial": {},
    "parts": [
      {
        "path": [
          "credentials"
        ],
        "kind": "secret",
        "label": "Key file of the service account",
        "ending": "SERVICE_ACCOUNT",
        "isLong": true,
        "note": "The JSON file from Firebase. It also names the project."
      },
      {
        "path": [
          "requests"
        ],
        "kind": "number",
        "label": "Maximum concurrent requests",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Maximum messages a second",
        "note": "Of all processes together. More messages wait in the queue of this account.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "URL instead of the provider’s",
        "note": "For tests and proxies.",
        "isRare": true
      }
    ]
  },
  {
    "kind": "sandbox",
    "title": "Inbox of this deployment",
    "summary": "Shows messages of any channel on the Inbox page and sends nothing.",
    "channels": [
      "email",
      "sms",
      "push"
    ],
    "initial": {},
    "parts": [
      {
        "path": [
          "from"
        ],
        "kind": "text",
        "label": "Sender",
        "note": "Used when the template sets no sender.",
        "placeholder": "Shop <shop@example.com>"
      }
    ]
  }
] as const;

export const INTEGRATION_FORMS = [
  {
    "kind": "lookup",
    "role": "partner",
    "group": "partner",
    "title": "Lookup endpoint of a partner",
    "summary": "Your endpoint, which gets user ids and answers with names and addresses.",
    "setup": null,
    "checkNote": "Carillon calls the endpoint as a rule would, with both schemes. Nobody is notified.",
    "parts": [
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "URL",
        "note": "Carillon calls it with POST.",
        "placeholder": "https://crm.example.com/recipients"
      },
      {
        "path": [
          "authorization",
          "scheme"
        ],
        "kind": "choice",
        "label": "Scheme",
        "note": "The word before the key in the Authorization header. The check tries both and shows which one works.",
        "options": [
          {
            "id": "Bearer",
            "name": "Bearer"
          },
          {
            "id": "Basic",
            "name": "Basic"
          }
        ]
      },
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Key",
        "ending": "KEY",
        "note": "The key that the partner gave you. Stored as a secret. The draft contains only the name of the secret."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isRare": true,
        "note": "For a rotation: used when the first key is refused."
      },
      {
        "path": [
          "authorization",
          "base64"
        ],
        "kind": "yes",
        "label": "With Basic: send the key base64-encoded",
        "isRare": true
      },
      {
        "path": [
          "match"
        ],
        "kind": "text",
        "label": "Path of the user id in each item of the answer",
        "note": "With it, several events share one call, and missing and unknown ids are reported.",
        "placeholder": "variables.user_id"
      },
      {
        "path": [
          "in_order"
        ],
        "kind": "yes",
        "label": "The answer has one item per id, in the order of the request",
        "isRare": true
      },
      {
        "path": [
          "timeouts",
          "connect"
        ],
        "kind": "text",
        "label": "Timeout of the connection",
        "isRare": true,
        "placeholder": "2s"
      },
      {
        "path": [
          "timeouts",
          "total"
        ],
        "kind": "text",
        "label": "Timeout of the whole call",
        "isRare": true,
        "placeholder": "10s"
      }
    ]
  },
  {
    "kind": "mixpanel",
    "role": "cohort_webhook",
    "group": "cohorts",
    "title": "Mixpanel cohorts",
    "summary": "Mixpanel reports who enters and leaves a cohort.",
    "setup": "In Mixpanel: Integrations, Custom Webhook. Enter the address, any user name, and the secret as password; then Export to… in the cohort.",
    "checkNote": "Checks that its secret is set and that messages have arrived. The platform itself cannot be queried.",
    "parts": [
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Secret",
        "ending": "SECRET",
        "isOurs": true,
        "note": "Paste this secret at the platform; it signs in with it."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isOurs": true,
        "isRare": true,
        "note": "For a rotation: either key is accepted."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Needed if the user id of the platform is not the user id that your endpoint knows.",
        "isRare": true,
        "placeholder": "email"
      }
    ]
  },
  {
    "kind": "amplitude",
    "role": "cohort_webhook",
    "group": "cohorts",
    "title": "Amplitude cohorts",
    "summary": "Amplitude reports who enters and leaves a cohort.",
    "setup": "In Amplitude: Data, Destinations, Webhook (cohort) with the default payload. Enter the address, and a header Authorization with Bearer and the secret.",
    "checkNote": "Checks that its secret is set and that messages have arrived. The platform itself cannot be queried.",
    "parts": [
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Secret",
        "ending": "SECRET",
        "isOurs": true,
        "note": "Paste this secret at the platform; it signs in with it."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isOurs": true,
        "isRare": true,
        "note": "For a rotation: either key is accepted."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Needed if the user id of the platform is not the user id that your endpoint knows.",
        "isRare": true,
        "placeholder": "email"
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "Duration of the first sync",
        "note": "People who arrive within it were members before. They join the cohort without a message.",
        "isRare": true,
        "placeholder": "1h"
      }
    ]
  },
  {
    "kind": "segment",
    "role": "cohort_webhook",
    "group": "cohorts",
    "title": "Segment audience",
    "summary": "Segment reports who enters and leaves an audience.",
    "setup": "In Segment: a destination Webhooks (Actions) that the audience feeds. Enter the address, and the secret as shared secret; leave batching off.",
    "checkNote": "Checks that its secret is set and that messages have arrived. The platform itself cannot be queried.",
    "parts": [
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Secret",
        "ending": "SECRET",
        "isOurs": true,
        "note": "Paste this secret at the platform; it signs in with it."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isOurs": true,
        "isRare": true,
        "note": "For a rotation: either key is accepted."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Needed if the user id of the platform is not the user id that your endpoint knows.",
        "isRare": true,
        "placeholder": "email"
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "Duration of the first sync",
        "note": "People who arrive within it were members before. They join the cohort without a message.",
        "isRare": true,
        "placeholder": "1h"
      },
      {
        "path": [
          "batches"
        ],
        "kind": "yes",
        "label": "Accept batches, in which only the first event is signed",
        "isRare": true
      }
    ]
  },
  {
    "kind": "generic",
    "role": "cohort_webhook",
    "group": "cohorts",
    "title": "Cohorts from your own program",
    "summary": "Your program reports who enters and leaves a cohort, by POST of JSON.",
    "setup": "In your program: POST to the URL with the header Authorization: Bearer and the secret.",
    "checkNote": "Checks that its secret is set and that messages have arrived. The platform itself cannot be queried.",
    "parts": [
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Secret",
        "ending": "SECRET",
        "isOurs": true,
        "note": "Paste this secret at the platform; it signs in with it."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isOurs": true,
        "isRare": true,
        "note": "For a rotation: either key is accepted."
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "Duration of the first sync",
        "note": "People who arrive within it were members before. They join the cohort without a message.",
        "isRare": true,
        "placeholder": "1h"
      }
    ]
  },
  {
    "kind": "posthog",
    "role": "cohort_api",
    "group": "cohorts",
    "title": "PostHog cohorts",
    "summary": "Carillon asks PostHog who is in a cohort.",
    "setup": null,
    "checkNote": "Carillon reads the first page of each cohort and stores nothing of it.",
    "parts": [
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "API URL",
        "placeholder": "https://eu.posthog.com"
      },
      {
        "path": [
          "project"
        ],
        "kind": "text",
        "label": "Project id",
        "placeholder": "12345"
      },
      {
        "path": [
          "authorization",
          "key"
        ],
        "kind": "secret",
        "label": "Key",
        "ending": "KEY",
        "note": "A personal API key with the scopes cohort:read and person:read."
      },
      {
        "path": [
          "authorization",
          "second_key"
        ],
        "kind": "secret",
        "label": "Second key",
        "ending": "KEY_2",
        "isRare": true,
        "note": "For a rotation: used when the first key is refused."
      },
      {
        "path": [
          "cohorts"
        ],
        "kind": "list",
        "label": "Cohort ids, one per line",
        "placeholder": "21"
      },
      {
        "path": [
          "every"
        ],
        "kind": "text",
        "label": "Time between two requests",
        "note": "PostHog computes most cohorts once a day.",
        "placeholder": "1h"
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Needed if the user id of the platform is not the user id that your endpoint knows.",
        "isRare": true,
        "placeholder": "properties.user_id"
      }
    ]
  },
  {
    "kind": "postgres",
    "role": "database",
    "group": "source",
    "title": "PostgreSQL database",
    "summary": "Carillon reads which rows of your tables are created, updated and deleted.",
    "setup": null,
    "checkNote": "Carillon connects and looks at the server, its settings and the role. It changes nothing.",
    "parts": [
      {
        "path": [
          "url"
        ],
        "kind": "secret",
        "label": "URL",
        "ending": "URL",
        "note": "Address with user and password, such as postgres://carillon:…@db.example.com/shop. Stored as a secret. The draft contains only the name of the secret."
      },
      {
        "path": [
          "tls",
          "ca"
        ],
        "kind": "secret",
        "label": "Certificate authority",
        "ending": "CA",
        "isLong": true,
        "isRare": true,
        "note": "PEM. Needed if no public authority signed the certificate of the server."
      }
    ]
  },
  {
    "kind": "kafka",
    "role": "topics",
    "group": "source",
    "title": "Kafka topics",
    "summary": "Carillon reads the records of your topics: events as JSON, or changes from Debezium.",
    "setup": null,
    "checkNote": "Carillon connects and looks at the cluster, the topics and the schema registry. It changes nothing.",
    "parts": [
      {
        "path": [
          "brokers"
        ],
        "kind": "list",
        "label": "Brokers",
        "note": "host:port, one per line. Carillon finds the other brokers by itself.",
        "placeholder": "kafka-1:9092"
      },
      {
        "path": [
          "sasl",
          "mechanism"
        ],
        "kind": "choice",
        "label": "Sign-in",
        "note": "How Carillon signs in to the brokers.",
        "options": [
          {
            "id": "",
            "name": "No sign-in"
          },
          {
            "id": "plain",
            "name": "PLAIN"
          },
          {
            "id": "scram-sha-256",
            "name": "SCRAM-SHA-256"
          },
          {
            "id": "scram-sha-512",
            "name": "SCRAM-SHA-512"
          }
        ]
      },
      {
        "path": [
          "sasl",
          "username"
        ],
        "kind": "text",
        "label": "User name"
      },
      {
        "path": [
          "sasl",
          "password"
        ],
        "kind": "secret",
        "label": "Password",
        "ending": "PASSWORD"
      },
      {
        "path": [
          "tls",
          "ca"
        ],
        "kind": "secret",
        "label": "Certificate authority",
        "ending": "CA",
        "isLong": true,
        "isRare": true,
        "note": "PEM. Needed if no public authority signed the certificates of the brokers."
      },
      {
        "path": [
          "registry",
          "url"
        ],
        "kind": "text",
        "label": "Schema registry",
        "isRare": true,
        "note": "Needed for Avro.",
        "placeholder": "https://registry.example.com"
      },
      {
        "path": [
          "registry",
          "username"
        ],
        "kind": "text",
        "label": "User name at the registry",
        "isRare": true
      },
      {
        "path": [
          "registry",
          "password"
        ],
        "kind": "secret",
        "label": "Password at the registry",
        "ending": "REGISTRY_PASSWORD",
        "isRare": true
      }
    ]
  }
] as const;
