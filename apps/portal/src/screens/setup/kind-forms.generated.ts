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
        "note": "Left empty where the server wants none."
      },
      {
        "path": [
          "password"
        ],
        "kind": "secret",
        "label": "Password",
        "ending": "PASSWORD",
        "note": "Kept as a secret; the draft holds its name alone."
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
        "label": "Connections at once",
        "isRare": true
      },
      {
        "path": [
          "dkim",
          "domain"
        ],
        "kind": "text",
        "label": "DKIM: domain that signs",
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
        "label": "Messages a second, at most",
        "note": "Over all processes together. What is above waits in this account’s own queue.",
        "isRare": true
      },
      {
        "path": [
          "return_path"
        ],
        "kind": "text",
        "label": "Domain for bounces",
        "isRare": true,
        "placeholder": "bounces.shop.example.com"
      }
    ]
  },
  {
    "kind": "twilio",
    "title": "SMS by Twilio",
    "summary": "Text messages from a number, a short code or a name of your own.",
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
        "label": "Sid of the account",
        "placeholder": "AC0123456789abcdef0123456789abcdef"
      },
      {
        "path": [
          "auth_token"
        ],
        "kind": "secret",
        "label": "Auth token",
        "ending": "AUTH_TOKEN",
        "note": "It also proves what Twilio reports. Kept as a secret."
      },
      {
        "path": [
          "api_key",
          "sid"
        ],
        "kind": "text",
        "label": "API key: sid",
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
        "note": "A number, a short code or a name that Twilio knows; or a Messaging Service instead.",
        "placeholder": "+4915112345678"
      },
      {
        "path": [
          "messaging_service"
        ],
        "kind": "text",
        "label": "Sid of a Messaging Service",
        "isRare": true,
        "placeholder": "MG…"
      },
      {
        "path": [
          "allow"
        ],
        "kind": "list",
        "label": "Allowed number prefixes, one per line",
        "note": "Other accounts of the notification are asked for the rest.",
        "isRare": true,
        "placeholder": "+49"
      },
      {
        "path": [
          "max_segments"
        ],
        "kind": "number",
        "label": "Segments at most",
        "note": "A text of more is refused; each is paid for.",
        "isRare": true
      },
      {
        "path": [
          "connections"
        ],
        "kind": "number",
        "label": "Requests at once",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Messages a second, at most",
        "note": "Over all processes together. What is above waits in this account’s own queue.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "Another address than the provider’s own",
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
        "label": "Id of the application",
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
        "note": "The PEM file that Vonage gives once. Kept as a secret."
      },
      {
        "path": [
          "signature_secret"
        ],
        "kind": "secret",
        "label": "Signature secret",
        "ending": "SIGNATURE_SECRET",
        "note": "Proves delivery reports and STOP; without it both are refused. In the API settings of the Vonage dashboard."
      },
      {
        "path": [
          "from"
        ],
        "kind": "text",
        "label": "Number",
        "note": "A number, a short code or a name of at most 11 letters.",
        "placeholder": "+4915112345678"
      },
      {
        "path": [
          "allow"
        ],
        "kind": "list",
        "label": "Allowed number prefixes, one per line",
        "note": "Other accounts of the notification are asked for the rest.",
        "isRare": true,
        "placeholder": "+49"
      },
      {
        "path": [
          "max_segments"
        ],
        "kind": "number",
        "label": "Segments at most",
        "note": "A text of more is refused; each is paid for.",
        "isRare": true
      },
      {
        "path": [
          "connections"
        ],
        "kind": "number",
        "label": "Requests at once",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Messages a second, at most",
        "note": "Over all processes together. What is above waits in this account’s own queue.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "Another address than the provider’s own",
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
        "note": "The JSON file as Firebase gives it. The project is the one that it names."
      },
      {
        "path": [
          "requests"
        ],
        "kind": "number",
        "label": "Requests at once",
        "isRare": true
      },
      {
        "path": [
          "rate",
          "per_second"
        ],
        "kind": "number",
        "label": "Messages a second, at most",
        "note": "Over all processes together. What is above waits in this account’s own queue.",
        "isRare": true
      },
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "Another address than the provider’s own",
        "note": "For tests and proxies.",
        "isRare": true
      }
    ]
  },
  {
    "kind": "sandbox",
    "title": "Inbox of this deployment",
    "summary": "Keeps messages of any channel for the inbox page; nothing leaves the machine.",
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
    "summary": "Your own endpoint: it is given user ids and answers who they are and how they are reached.",
    "setup": null,
    "checkNote": "The endpoint is called as a rule would call it, with both schemes. Nobody is told anything.",
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
        "note": "The word before the key in the Authorization header. The check tries both and says which one is taken.",
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
        "note": "The key that the other side gave you. It is kept as a secret; the draft holds its name alone."
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
        "note": "While keys are rotated: used where the first one is refused."
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
        "note": "So that several events share a call, and missing and unknown ids are told.",
        "placeholder": "variables.user_id"
      },
      {
        "path": [
          "in_order"
        ],
        "kind": "yes",
        "label": "The answer has one item for each id, in their order",
        "isRare": true
      },
      {
        "path": [
          "timeouts",
          "connect"
        ],
        "kind": "text",
        "label": "Time for the connection",
        "isRare": true,
        "placeholder": "2s"
      },
      {
        "path": [
          "timeouts",
          "total"
        ],
        "kind": "text",
        "label": "Time for the whole call",
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
    "summary": "Mixpanel tells who enters and leaves a cohort.",
    "setup": "In Mixpanel: Integrations, Custom Webhook. Enter the address, any user name, and the secret as password; then Export to… in the cohort.",
    "checkNote": "Whether its secret is set, and whether anything has come. The platform itself cannot be asked.",
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
        "note": "While keys are rotated: either of the two is taken."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Where the platform’s own id is another one than the one that your endpoint knows.",
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
    "summary": "Amplitude tells who enters and leaves a cohort.",
    "setup": "In Amplitude: Data, Destinations, Webhook (cohort) with the default payload. Enter the address, and a header Authorization with Bearer and the secret.",
    "checkNote": "Whether its secret is set, and whether anything has come. The platform itself cannot be asked.",
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
        "note": "While keys are rotated: either of the two is taken."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Where the platform’s own id is another one than the one that your endpoint knows.",
        "isRare": true,
        "placeholder": "email"
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "The first sync lasts",
        "note": "Who comes within it was in before: they are taken in silently.",
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
    "summary": "Segment tells who enters and leaves an audience.",
    "setup": "In Segment: a destination Webhooks (Actions) that the audience feeds. Enter the address, and the secret as shared secret; leave batching off.",
    "checkNote": "Whether its secret is set, and whether anything has come. The platform itself cannot be asked.",
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
        "note": "While keys are rotated: either of the two is taken."
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Where the platform’s own id is another one than the one that your endpoint knows.",
        "isRare": true,
        "placeholder": "email"
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "The first sync lasts",
        "note": "Who comes within it was in before: they are taken in silently.",
        "isRare": true,
        "placeholder": "1h"
      },
      {
        "path": [
          "batches"
        ],
        "kind": "yes",
        "label": "Take lists of calls, of which only the first is signed",
        "isRare": true
      }
    ]
  },
  {
    "kind": "generic",
    "role": "cohort_webhook",
    "group": "cohorts",
    "title": "Cohorts from a sender of your own",
    "summary": "A program of yours tells who enters and leaves, by POST of JSON.",
    "setup": "In your program: POST to the address with the header Authorization: Bearer and the secret.",
    "checkNote": "Whether its secret is set, and whether anything has come. The platform itself cannot be asked.",
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
        "note": "While keys are rotated: either of the two is taken."
      },
      {
        "path": [
          "first_sync_lasts"
        ],
        "kind": "text",
        "label": "The first sync lasts",
        "note": "Who comes within it was in before: they are taken in silently.",
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
    "summary": "PostHog sends nothing by itself: it is asked who is in a cohort.",
    "setup": null,
    "checkNote": "The first page of each cohort is asked for. Nothing of it is kept.",
    "parts": [
      {
        "path": [
          "url"
        ],
        "kind": "text",
        "label": "URL of its API",
        "placeholder": "https://eu.posthog.com"
      },
      {
        "path": [
          "project"
        ],
        "kind": "text",
        "label": "Id of the project",
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
        "note": "While keys are rotated: used where the first one is refused."
      },
      {
        "path": [
          "cohorts"
        ],
        "kind": "list",
        "label": "Ids of the cohorts, one a line",
        "placeholder": "21"
      },
      {
        "path": [
          "every"
        ],
        "kind": "text",
        "label": "Asked every",
        "note": "PostHog computes most cohorts once a day.",
        "placeholder": "1h"
      },
      {
        "path": [
          "user_id"
        ],
        "kind": "text",
        "label": "Field with your user id",
        "note": "Where the platform’s own id is another one than the one that your endpoint knows.",
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
    "summary": "Carillon reads which rows of its tables are created, updated and deleted.",
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
        "note": "Address with user and password, such as postgres://carillon:…@db.example.com/shop. It is kept as a secret; the draft holds its name alone."
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
    "summary": "Carillon reads the records of its topics: events as JSON, or changes as Debezium writes them.",
    "setup": null,
    "checkNote": "Carillon connects and looks at the cluster, the topics and the schema registry. It changes nothing.",
    "parts": [
      {
        "path": [
          "brokers"
        ],
        "kind": "list",
        "label": "Brokers",
        "note": "host:port, one on each line. The others are learned from them.",
        "placeholder": "kafka-1:9092"
      },
      {
        "path": [
          "sasl",
          "mechanism"
        ],
        "kind": "choice",
        "label": "Sign-in",
        "note": "How the password is proved.",
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
