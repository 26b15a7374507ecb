"""Text and metadata in one naive Bayes: spam by the body of a mail, by its headers, and by both.

    python examples/mail_with_headers.py TRAIN.csv TEST.csv

The files have the columns `label` and `text`, a text being a complete mail with its headers. Of the headers
only what a sender chooses is used: none of the hosts, list names and addresses that a mail met on its way,
which tell how a collection was made rather than what spam is.
"""

from __future__ import annotations

import email
import email.policy
import email.utils
import sys
from email.message import Message

import pyarrow

import textodds
from textodds.data import read

MAILERS = (
    "outlook express",
    "outlook",
    "mozilla",
    "kmail",
    "mutt",
    "evolution",
    "eudora",
    "pine",
    "exmh",
    "ximian",
)


def columns_of(raw: str) -> dict[str, object]:
    """A mail as a row of a table: its words, and what its headers say."""
    mail = email.message_from_string(raw, policy=email.policy.compat32)
    body = body_of(mail)
    subject = str(mail.get("Subject", ""))
    letters = [c for c in subject if c.isalpha()]
    date = email.utils.parsedate_tz(str(mail.get("Date", "")))
    recipients = email.utils.getaddresses([str(mail.get(name, "")) for name in ("To", "Cc")])
    sender = email.utils.parseaddr(str(mail.get("From", "")))
    mailer = str(mail.get("X-Mailer") or mail.get("User-Agent") or "").lower()
    return {
        "body": subject + "\n" + body,
        "content type": mail.get_content_type(),
        "mailer": next((name for name in MAILERS if name in mailer), "other" if mailer else "none"),
        "hour sent": None if date is None else date[3],
        "recipients": len(recipients),
        "sender has a name": bool(sender[0]),
        "sender ends in a digit": sender[1].partition("@")[0][-1:].isdigit(),
        "answers": bool(mail.get("In-Reply-To") or mail.get("References")),
        "reply elsewhere": bool(mail.get("Reply-To")) and sender[1] not in str(mail.get("Reply-To")),
        "priority set": bool(mail.get("X-Priority") or mail.get("X-MSMail-Priority")),
        "subject length": len(subject),
        "capitals in subject": sum(c.isupper() for c in letters) / max(len(letters), 1),
        "exclamations": min(subject.count("!"), 3),
        "length": len(body),
        "links": body.lower().count("http"),
        "parts": sum(1 for _ in mail.walk()),
    }


def body_of(mail: Message) -> str:
    """The text parts of a mail, decoded as well as may be."""
    parts = []
    for part in mail.walk():
        if part.get_content_maintype() == "text":
            payload = part.get_payload(decode=True)
            parts.append(payload.decode("utf-8", "replace") if isinstance(payload, bytes) else str(payload))
    return "\n".join(parts)


def table_of(path: str) -> tuple[list[dict[str, object]], list[str]]:
    """The mails of a file as rows, and their labels."""
    rows, labels = [], []
    for batch in read(path):
        texts = batch.texts if isinstance(batch.texts, list) else pyarrow.array(batch.texts).to_pylist()
        rows += [columns_of(text) for text in texts]
        labels += batch.label_list()
    return rows, labels


def main(train: str, test: str) -> None:
    """Train on each part alone and on both, and say how they do."""
    rows, labels = table_of(train)
    new_rows, new_labels = table_of(test)
    headers = [name for name in rows[0] if name != "body"]
    parts = {"body alone": headers, "headers alone": ["body"], "both": []}
    print(f"{'':15}{'accuracy':>10}{'log-loss':>10}{'errors':>8}")
    for name, left_out in parts.items():
        columns = {"body": "text", **dict.fromkeys(left_out, "ignore")}
        model = textodds.train(rows, labels, learner="mixed", columns=columns)
        found = model.evaluate(new_rows, new_labels)
        wrong = round((1 - found.accuracy) * found.n)
        print(f"{name:15}{found.accuracy:10.4f}{found.log_loss:10.4f}{wrong:8}")
    print("\nwhat was chosen for each column")
    assert isinstance(model, textodds.TableModel)
    for choice in model.recipe.choices:
        print(f"  {choice.column:24}{choice.conditional:22}{choice.why}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
