//! Payments, prices, subscriptions and taxes.

use super::super::phrases::near;
use super::super::subject::Subject;
use super::super::text::Words;

pub(super) const PAYMENT: Subject = Subject {
    english: Words(
        "payment* payout* payroll pay paid billing billed refund* chargeback stripe. paypal \
         klarna adyen braintree checkout invoice money payslip salary wage surcharge overcharge \
         monetiz* monetis* purchase paywall dunning prorat* coupon voucher vat. iban sepa fraud* \
         discount tax. taxes. fee. fees. wallet donate pricing receipt",
    ),
    but: Words(""),
    english_phrases: &[
        near(3, &["amount", "eur usd euro dollar chf gbp yen"]),
        near(4, &["amount", "cut wrong rounded negative doubled"]),
        near(1, &["wrong incorrect negative", "amount"]),
        near(1, &["duplicate double bank money fund wire", "transfer"]),
        near(0, &["free trial paying", "user customer account"]),
        near(2, &["round", "price amount cents"]),
        near(1, &["wrong", "currency"]),
        near(1, &["duplicate double", "orders. order. charge"]),
        near(4, &["orders. order.", "twice duplicated"]),
        near(0, &["gift", "card"]),
        near(2, &["customer card user buyer", "charge"]),
        near(
            2,
            &[
                "charge",
                "twice again wrong double card customer user buyer too for.",
            ],
        ),
        near(3, &["amount double wrongly wrong", "charge"]),
        near(0, &["credit debit", "card"]),
        near(0, &["direct", "debit"]),
        near(0, &["bank", "account transfer statement card detail"]),
        near(
            2,
            &[
                "paid monthly annual yearly pro premium trial cancel renew upgrade downgrade \
                 customer their",
                "subscription",
            ],
        ),
        near(
            2,
            &[
                "subscription",
                "plan price renewal renew cancel cancellation tier expire",
            ],
        ),
        near(5, &["subscribe", "plan tier pro premium"]),
        near(
            0,
            &[
                "pro premium paid yearly annual monthly enterprise free",
                "plan tier trial",
            ],
        ),
        near(0, &["order cart basket", "total"]),
        near(0, &["shipping delivery", "cost"]),
        near(
            2,
            &[
                "price",
                "calculat* compute change raise increase lower rounded rounding",
            ],
        ),
        near(2, &["raise lower change", "price"]),
        near(1, &["currency", "conver* exchange"]),
        near(0, &["exchange", "rate"]),
        near(1, &["account negative", "balance"]),
        near(4, &["amount", "transfer invoice bill deposit withdrawal"]),
    ],
    japanese: Words(
        "決済 支払 課金 請求 返金 払い戻 送金 入金 振込 ペイメント クレジットカード クレカ \
         定期購読 サブスク 購入 領収 口座 値引 割引 クーポン 税率 消費税 課税 精算 有料 解約 \
         引き落とし 料金 売掛 月額 年額 銀行 値上げ 値下げ 残高 電子マネー 送料 カード番号 \
         カード情報 カード登録 カードが使え カードの登録 カードの有効期限 売上 無料プラン \
         キャンセル料",
    ),
    japanese_phrases: &[
        near(8, &["注文", "二重 重複"]),
        near(
            4,
            &["プラン", "変更 解約 切り替え アップグレード ダウングレード"],
        ),
        near(
            8,
            &[
                "金額 価格",
                "計算 間違 誤 違 合わ おかし ずれ 丸め 変更 変え 改定",
            ],
        ),
    ],
};
