"""What deleted conversations have cost, in sums that nobody can be told by."""

from __future__ import annotations

from decimal import Decimal

from django.db import models

from sessions_app.domain.budget import PICO


class DeletedUsage(models.Model):
    """All deleted attempts of a month on one payer's account, at one provider's model.

    ``month`` is such as 2026-12, in UTC; ``payer`` is an owner without the person:
    ``visitor:pk_shop:`` or ``key:7``. ``cost`` is in 1e-12 USD, so that sums are exact;
    ``unpriced`` counts the attempts whose cost nobody knows.
    """

    month = models.CharField(max_length=7)
    agent = models.CharField(max_length=100)
    payer = models.CharField(max_length=100)
    provider = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    attempts = models.PositiveBigIntegerField(default=0)
    unpriced = models.PositiveBigIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cached_tokens_in = models.PositiveBigIntegerField(default=0)
    cost = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name = "usage of deleted conversations"
        verbose_name_plural = "usage of deleted conversations"
        ordering = ["-month", "agent", "payer", "provider", "model"]
        constraints = [
            models.UniqueConstraint(
                fields=["month", "agent", "payer", "provider", "model"],
                name="one_sum_of_deleted_usage",
            )
        ]

    def __str__(self) -> str:
        return f"{self.month} {self.provider}/{self.model}"

    @property
    def cost_usd(self) -> Decimal:
        """The cost of the attempts that have one, in USD."""
        return Decimal(self.cost) / PICO
