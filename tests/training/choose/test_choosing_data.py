"""On real data choosing pays: the model is at least as good as those one would have taken unasked."""

import pytest

import textodds

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("sms_spam", 2),
        *(pytest.param(*each, marks=pytest.mark.long) for each in (("reuters_r8", 4), ("mr", 1))),
    ],
)
def test_the_chosen_model_is_not_worse_than_naive_bayes_or_softmax_of_words(real_data, name, step):
    """By log-loss on texts that nothing was chosen by; a hundredth is within what few test texts can tell."""
    train, test = real_data(name)
    train = [column[::step] for column in train]
    chosen = textodds.train(
        *train, learner="auto", budget=600
    )  # so that the race ends by itself, however busy the machine
    losses = {
        "multinomial": textodds.train(*train, learner="multinomial").evaluate(*test).log_loss,
        "softmax": textodds.train(*train, learner="softmax", ngrams=(1, 1)).evaluate(*test).log_loss,
    }
    found = chosen.evaluate(*test).log_loss
    print(name, chosen.info["chosen"]["tried"][0]["name"], found, losses)
    assert found < min(losses.values()) + 0.01
    assert found < max(losses.values())
