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
        "note": "Proves delivery reports and STOP. In the API settings of the Vonage dashboard."
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
